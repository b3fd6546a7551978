import type { Condition } from "../../../../../crds/conditions.ts";
import { diagnoseApplication } from "../../../../../operator/controllers/environment/diagnosis.ts";
import type { ObservedApplication, SyncedObject } from "../../../../../operator/ports/deployer.ts";
import type { PodProblem, PodProblemReason, QuietProblem } from "../../../../../operator/ports/pods.ts";
import { memoryRepositories } from "../../../../support/doubles/memory/repositories.ts";
import { stepDependencies } from "../../../../support/doubles/step-dependencies.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import {
  CREATED,
  environmentFixture,
  fixtureSettings,
  minutesLater,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

/** Facts about an unhealthy application. */
export interface Scene {
  readonly state?: ObservedApplication["state"];
  readonly problem?: ObservedApplication["problem"];
  /** The condition of the last reconcile; it began at `CREATED`. */
  readonly former?: Pick<Condition, "status" | "reason" | "message">;
  readonly atSeconds?: number;
  /** True when the desired values have changed since the last reconcile. */
  readonly isNew?: boolean;
  readonly mayFail?: boolean;
  /** Reason, and its age in seconds. */
  readonly troubles?: readonly (readonly [PodProblemReason, number])[];
  /** True when the pods lack the component's label. */
  readonly isUnlabelled?: boolean;
  readonly evidence?: string;
  readonly retryInMs?: number;
  /** Problems of workloads without traffic. */
  readonly quiet?: readonly QuietProblem[];
  /** True when all workloads with traffic are healthy. */
  readonly isServing?: boolean;
  /** Seconds that a sync has waited for these. */
  readonly waits?: {
    readonly seconds: number;
    readonly objects: readonly SyncedObject[];
    readonly isOutdated?: boolean;
  };
  readonly failedHooks?: readonly SyncedObject[];
  /** True when the last reconcile reported a problem without traffic. */
  readonly wasQuiet?: boolean;
  /** Seconds since the deployer first reported it as degraded. */
  readonly degradedSeconds?: number;
}

const waitingSync = ({ seconds, objects, isOutdated = false }: NonNullable<Scene["waits"]>, now: Date) => ({
  objects,
  isOutdated,
  since: new Date(now.getTime() - seconds * 1e3),
});

/** The result of a diagnosis, and the called ports. */
export async function diagnose(scene: Scene) {
  const { state = "progressing", problem, former, atSeconds = 60, mayFail = true, troubles = [] } = scene;
  const clock = new TestClock(minutesLater(atSeconds / 60).toISOString());
  const informed = scene.wasQuiet
    ? [
        {
          type: "ResourcesHealthy",
          status: "False",
          reason: "Unhealthy",
          message: "",
          lastTransitionTime: CREATED,
        } as const,
      ]
    : [];
  const conditions = former && [{ type: "ApplicationSynced", lastTransitionTime: CREATED, ...former }, ...informed];
  const desiredHash = scene.isNew ? "before" : "hash";
  const environment = environmentFixture({ status: { desiredHash, ...(conditions ? { conditions } : {}) } });
  const calls = { retriedSince: [] as Date[], diagnoses: 0, evidences: 0, ended: 0 };
  const evidence = async () => {
    calls.evidences += 1;
    return scene.evidence ?? "panic: no database";
  };
  const found = troubles.map(([reason, seconds], index): PodProblem => {
    const component = ["backend", "frontend"][index] ?? "worker";
    const since = new Date(clock.now().getTime() - seconds * 1000);
    return {
      reason,
      component,
      object: { kind: "Deployment", name: component },
      what: `it has ${reason}`,
      remedy: "repair it",
      since,
      evidence,
      ...(scene.isUnlabelled ? { isUnlabelled: true } : {}),
    };
  });
  const dependencies = stepDependencies({
    clock,
    repositories: memoryRepositories(),
    deployer: {
      async retry(_desired, since) {
        calls.retriedSince.push(since);
        return scene.retryInMs ?? 15_000;
      },
      async endSync() {
        calls.ended += 1;
      },
    },
    pods: {
      lastOutput: evidence,
      async diagnose() {
        calls.diagnoses += 1;
        return { problems: found, quiet: scene.quiet ?? [], isServing: scene.isServing ?? false };
      },
    },
  });
  const since = new Date(clock.now().getTime() - (scene.degradedSeconds ?? 0) * 1000);
  const observed = {
    state,
    revision: "",
    message: "the deployer says so",
    ...(problem ? { problem } : {}),
    ...(scene.degradedSeconds === undefined ? {} : { since }),
    ...(scene.failedHooks ? { failedHooks: scene.failedHooks } : {}),
    ...(scene.waits === undefined ? {} : { waitingSync: waitingSync(scene.waits, clock.now()) }),
  };
  const { name, uid } = environment.metadata;
  const { defaultChart: chart } = fixtureSettings;
  const desired = { environment: { name, uid }, chart, values: {}, sources: {}, leavesReplicas: true };
  const unhealthy = { environment, desired, hash: "hash", observed, mayFail };
  return { result: await diagnoseApplication(unhealthy, dependencies), calls };
}
