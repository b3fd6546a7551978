import type { Condition } from "../../../../crds/conditions.ts";
import { diagnoseApplication, type UnhealthyApplication } from "../../../../operator/environment/diagnosis.ts";
import type { StepContext } from "../../../../operator/environment/step.ts";
import type { ObservedApplication } from "../../../../operator/ports/deployer.ts";
import type { PodProblem, PodProblemReason } from "../../../../operator/ports/pods.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
} from "../../../support/fixtures/environment/environment-fixture.ts";

/** What is known of an application that is not healthy. */
export interface Scene {
  readonly state?: ObservedApplication["state"];
  readonly problem?: ObservedApplication["problem"];
  /** The condition of the last reconcile; it began at `CREATED`. */
  readonly former?: Pick<Condition, "status" | "reason" | "message">;
  readonly atSeconds?: number;
  /** Whether the desired values have changed since the last reconcile. */
  readonly isNew?: boolean;
  readonly mayFail?: boolean;
  /** Reason, and since when it lasts in seconds before now. */
  readonly troubles?: readonly (readonly [PodProblemReason, number])[];
  readonly evidence?: string;
  readonly retryInMs?: number;
  /** Since when the deployer calls it so, in seconds before now. */
  readonly degradedSeconds?: number;
}

/** The result of a diagnosis, and which ports it called. */
export async function diagnose(scene: Scene) {
  const { state = "progressing", problem, former, atSeconds = 60, mayFail = true, troubles = [] } = scene;
  const clock = new TestClock(minutesLater(atSeconds / 60).toISOString());
  const conditions = former && [{ type: "ApplicationSynced", lastTransitionTime: CREATED, ...former }];
  const desiredHash = scene.isNew ? "before" : "hash";
  const environment = environmentFixture({ status: { desiredHash, ...(conditions ? { conditions } : {}) } });
  const calls = { retriedSince: [] as Date[], diagnoses: 0, evidences: 0 };
  const evidence = async () => {
    calls.evidences += 1;
    return scene.evidence ?? "panic: no database";
  };
  const found = troubles.map(([reason, seconds], index): PodProblem => {
    const component = ["backend", "frontend"][index] ?? "worker";
    const since = new Date(clock.now().getTime() - seconds * 1000);
    return { reason, component, what: `it has ${reason}`, remedy: "repair it", since, evidence };
  });
  const context = {
    clock,
    backingServices: [],
    deployer: {
      async retry(_wanted: unknown, since: Date) {
        calls.retriedSince.push(since);
        return scene.retryInMs ?? 15_000;
      },
    },
    pods: {
      async diagnose() {
        calls.diagnoses += 1;
        return found;
      },
    },
  } as unknown as StepContext;
  const since = new Date(clock.now().getTime() - (scene.degradedSeconds ?? 0) * 1000);
  const observed = {
    ...{ state, revision: "", message: "the deployer says so" },
    ...(problem ? { problem } : {}),
    ...(scene.degradedSeconds === undefined ? {} : { since }),
  };
  const unhealthy = { environment, wanted: {}, hash: "hash", observed, mayFail } as unknown as UnhealthyApplication;
  return { result: await diagnoseApplication(unhealthy, context), calls };
}
