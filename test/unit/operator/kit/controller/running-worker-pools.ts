import { afterEach, beforeEach } from "@jest/globals";
import type { ControllerMetrics, Reconcile } from "../../../../../operator/kit/controller/controller.ts";
import { type Worked, WorkerPool, type WorkerPoolContext } from "../../../../../operator/kit/controller/worker-pool.ts";
import { noTracing } from "../../../../../operator/kit/tracing.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

/** Worker pools on one clock, stopped after each test. */
export function runningWorkerPools() {
  let clock: TestClock;
  let running: WorkerPool[];

  beforeEach(() => {
    clock = new TestClock();
    running = [];
  });

  afterEach(async () => {
    for (const controller of running) {
      const stopped = controller.stop();
      clock.advance(0);
      await stopped;
    }
  });

  function started(reconcile: Reconcile, more: Partial<Worked & WorkerPoolContext> = {}): WorkerPool {
    const { log = silentLog, metrics, tracing = noTracing, ...worked } = more;
    const context = { log, metrics, tracing, clock, random: () => 0 };
    const controller = new WorkerPool({ name: "test", reconcile, workers: 8, ...worked }, context);
    controller.start();
    running.push(controller);
    return controller;
  }

  return {
    get clock() {
      return clock;
    },
    started,
  };
}

/** Metrics that keep only the outcomes. */
export function outcomesInto(outcomes: string[]): ControllerMetrics {
  const nothing = () => undefined;
  return {
    of: () => ({ added: nothing, taken: nothing, retried: nothing, reconciled: (outcome) => outcomes.push(outcome) }),
  };
}
