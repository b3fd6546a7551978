import { expect, test } from "@jest/globals";
import type { Condition } from "../../../../../crds/conditions.ts";
import { runningWhileSuspended } from "../../../../../operator/controllers/environment/steps/application.ts";
import type { Pods } from "../../../../../operator/ports/pods.ts";
import { partialDouble } from "../../../../support/doubles/partial-double.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";

const cache = { kind: "StatefulSet", name: "cache" };

interface Scene {
  /** Duration of its suspension; absent: not reported yet. */
  readonly asleepSeconds?: number;
  /** Duration of its application's current sync. */
  readonly syncedSeconds?: number;
  readonly isNamed?: boolean;
  readonly suspended?: boolean;
  readonly found?: readonly (typeof cache)[];
}

async function look(scene: Scene) {
  const { asleepSeconds, syncedSeconds = 86_400, isNamed = false, suspended = true, found = [cache] } = scene;
  const clock = new TestClock(CREATED);
  const trueFor = (type: Condition["type"], seconds: number): Condition => {
    const lastTransitionTime = new Date(clock.now().getTime() - seconds * 1_000).toISOString();
    return { type, status: "True", reason: type, message: "", lastTransitionTime };
  };
  const named = { ...trueFor("ResourcesHealthy", 0), status: "False", reason: "KeepsRunning" } as const;
  const conditions = [
    trueFor("ApplicationSynced", syncedSeconds),
    ...(asleepSeconds === undefined ? [] : [trueFor("Suspended", asleepSeconds)]),
    ...(isNamed ? [named] : []),
  ];
  let reads = 0;
  const pods = partialDouble<Pods>({
    async running() {
      reads += 1;
      return found;
    },
  });
  const environment = environmentFixture({ spec: { suspended }, status: { conditions } });
  const { running, recheckMs } = await runningWhileSuspended(environment, { clock, pods });
  return { running, recheckMs, reads };
}

const nothing = { running: [], recheckMs: undefined };

test.each<[string, Scene, object]>([
  ["is not looked for in an environment that is awake", { suspended: false }, { ...nothing, reads: 0 }],
  ["may end for 15 seconds, before that is stored", {}, { running: [], recheckMs: 15_000, reads: 1 }],
  ["may end for 15 seconds", { asleepSeconds: 5 }, { running: [], recheckMs: 10_000, reads: 1 }],
  ["may end for 15 seconds after a change", { asleepSeconds: 900, syncedSeconds: 5 }, { recheckMs: 10_000, reads: 1 }],
  ["is named then", { asleepSeconds: 15 }, { running: [cache], recheckMs: 300_000, reads: 1 }],
  ["is none where all has ended", { asleepSeconds: 15, found: [] }, { ...nothing, reads: 1 }],
  ["is looked for no more after two minutes", { asleepSeconds: 121 }, { ...nothing, reads: 0 }],
  ["is looked at for as long as it is named", { asleepSeconds: 900, isNamed: true }, { running: [cache], reads: 1 }],
  ["is named no more once it has ended", { asleepSeconds: 900, isNamed: true, found: [] }, { ...nothing, reads: 1 }],
])("what keeps pods %s", async (_, scene, expected) => {
  expect(await look(scene)).toMatchObject(expected);
});
