import {
  type ControllerMetrics,
  type PoolMetrics,
  type PoolState,
  PRIORITIES,
  type ReconcileOutcome,
} from "../../kit/controller/controller.ts";
import type { MetricName } from "./definitions.ts";
import type { MetricRegistry, Sample } from "./registry.ts";

interface Controlled {
  readonly name: string;
  readonly workers: number;
  readonly pool: PoolState;
  lastSuccessMs: number | undefined;
}

const RESULTS: Readonly<Record<ReconcileOutcome, string>> = {
  done: "success",
  requeued: "requeue_after",
  failed: "error",
  panic: "error",
  timeout: "error",
};

/** Metrics of controllers and queues, under controller-runtime's names. */
export function controllerMetrics(registry: MetricRegistry): ControllerMetrics {
  const all: Controlled[] = [];
  const reconciles = registry.counter("controller_runtime_reconcile_total");
  const errors = registry.counter("controller_runtime_reconcile_errors_total");
  const terminal = registry.counter("controller_runtime_terminal_reconcile_errors_total");
  const panics = registry.counter("controller_runtime_reconcile_panics_total");
  const timeouts = registry.counter("controller_runtime_reconcile_timeouts_total");
  const reconcileTime = registry.histogram("controller_runtime_reconcile_time_seconds");
  const adds = registry.counter("workqueue_adds_total");
  const queueTime = registry.histogram("workqueue_queue_duration_seconds");
  const workTime = registry.histogram("workqueue_work_duration_seconds");
  const retries = registry.counter("workqueue_retries_total");

  const ofEach = (name: MetricName, samples: (one: Controlled) => Iterable<Sample>) =>
    registry.computed(name, () => all.flatMap((one) => [...samples(one)]));
  ofEach("controller_runtime_max_concurrent_reconciles", ({ name, workers }) => [[{ controller: name }, workers]]);
  ofEach("controller_runtime_active_workers", ({ name, pool }) => [[{ controller: name }, pool.inWork]]);
  ofEach("workqueue_depth", ({ name, pool }) =>
    PRIORITIES.map((priority) => [{ ...queueOf(name), priority }, pool.depthOf(priority)] as const),
  );
  ofEach("workqueue_unfinished_work_seconds", ({ name, pool }) => [[queueOf(name), pool.workingMs().sum / 1000]]);
  ofEach("workqueue_longest_running_processor_seconds", ({ name, pool }) => [
    [queueOf(name), pool.workingMs().longest / 1000],
  ]);
  ofEach("ephemeral_controller_last_success_timestamp_seconds", ({ name, lastSuccessMs }) =>
    lastSuccessMs === undefined ? [] : [[{ controller: name }, lastSuccessMs / 1000]],
  );

  return {
    of({ name, workers }, pool): PoolMetrics {
      const one: Controlled = { name, workers, pool, lastSuccessMs: undefined };
      all.push(one);
      const controller = { controller: name };
      const queue = queueOf(name);
      // Looked up once: counting a reconcile costs less than a microsecond.
      const ended = Object.fromEntries(
        Object.values(RESULTS).map((result) => [result, reconciles.labels({ ...controller, result })]),
      );
      const ofErrors = errors.labels(controller);
      const ofBad = { panic: panics.labels(controller), timeout: timeouts.labels(controller) };
      const counters = [...Object.values(ended), ofErrors, terminal.labels(controller), ...Object.values(ofBad)];
      const [added, retried] = [adds.labels(queue), retries.labels(queue)];
      for (const counter of [...counters, added, retried]) counter.inc(0);
      const reconciled = reconcileTime.labels(controller);
      const worked = workTime.labels(queue);
      const waited = queueTime.labels(queue);
      return {
        added: () => added.inc(),
        retried: () => retried.inc(),
        taken: (waitedMs) => waited.observe(waitedMs / 1000),
        reconciled(outcome, durationMs) {
          const result = RESULTS[outcome];
          ended[result]?.inc();
          reconciled.observe(durationMs / 1000);
          worked.observe(durationMs / 1000);
          if (result === "error") ofErrors.inc();
          else one.lastSuccessMs = Date.now();
          if (outcome === "panic" || outcome === "timeout") ofBad[outcome].inc();
        },
      };
    },
  };
}

const queueOf = (name: string) => ({ name, controller: name });
