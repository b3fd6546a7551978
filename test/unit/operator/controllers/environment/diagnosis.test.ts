import { describe, expect, test } from "@jest/globals";
import { CREATED, minutesLater } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { diagnose, type Scene } from "./diagnosed-application.ts";

const starting = { status: "Unknown", reason: "Progressing", message: "" } as const;
const failedBefore = (reason: string) => ({ status: "False", reason, message: "backend: as before" }) as const;

const degraded = { state: "broken", problem: "DeploymentFailed" } as const;

const cases: readonly { name: string; scene: Scene; expected: object }[] = [
  {
    name: "what the deployer has not compared yet is waited for",
    scene: { state: "unseen", former: starting, atSeconds: 5 },
    expected: { state: "waiting", reason: "Syncing", message: "the deployer says so" },
  },
  {
    name: "a deployer that does nothing for two minutes is silent, which fails nothing",
    scene: { state: "unseen", former: starting, atSeconds: 120 },
    expected: {
      state: "waiting",
      reason: "DeployerSilent",
      message: expect.stringContaining("application 'env-shop'"),
    },
  },
  {
    name: "it stays silent until it has looked",
    scene: { state: "unseen", former: { ...starting, reason: "DeployerSilent" }, atSeconds: 5 },
    expected: { state: "waiting", reason: "DeployerSilent" },
  },
  {
    name: "its silence counts anew when something else is wanted",
    scene: { state: "unseen", former: starting, atSeconds: 600, isNew: true },
    expected: { state: "waiting", reason: "Syncing" },
  },
  {
    name: "a chart that gives no manifests fails the environment",
    scene: { state: "broken", problem: "ChartInvalid", retryInMs: 15_000 },
    expected: { state: "failed", reason: "ChartInvalid", requeueAfterMs: 15_000 },
  },
  {
    name: "a deployer that lacks a part fails nothing",
    scene: { state: "broken", problem: "DeployerUnavailable" },
    expected: { state: "waiting", reason: "DeployerUnavailable" },
  },
  {
    name: "a quota that was not counted yet fails nothing, and is tried again",
    scene: { state: "broken", problem: "QuotaUncounted", retryInMs: 15_000 },
    expected: { state: "waiting", reason: "QuotaUncounted", requeueAfterMs: 15_000 },
  },
  {
    name: "a failure stays while the deployer retries",
    scene: { state: "waiting", former: failedBefore("SyncFailed") },
    expected: { state: "failed", reason: "SyncFailed", message: "backend: as before" },
  },
  {
    name: "so does a report of one that serves",
    scene: { state: "waiting", former: { ...starting, reason: "SyncFailed", message: "as before" }, mayFail: false },
    expected: { state: "waiting", reason: "SyncFailed", message: "as before" },
  },
  {
    name: "a failure of what is wanted no more does not stand",
    scene: { state: "waiting", former: failedBefore("SyncFailed"), isNew: true },
    expected: { state: "waiting", reason: "Syncing" },
  },
  {
    name: "a failure of what serves by now does not stand",
    scene: { state: "waiting", former: failedBefore("SyncFailed"), mayFail: false },
    expected: { state: "waiting", reason: "Syncing" },
  },
  {
    name: "pods that start are not looked at for ten seconds",
    scene: { former: starting, atSeconds: 4, troubles: [["CrashLoop", 4]] },
    expected: { state: "waiting", reason: "Progressing", requeueAfterMs: 6_000 },
  },
  {
    name: "a crash loop fails at once",
    scene: { former: starting, troubles: [["CrashLoop", 20]] },
    expected: {
      state: "failed",
      reason: "CrashLoop",
      message: "backend: it has CrashLoop: repair it\nLast output of backend:\npanic: no database",
    },
  },
  {
    name: "pods that no label says to be a component's are named with what has made them",
    scene: { former: starting, troubles: [["CrashLoop", 20]], isUnlabelled: true },
    expected: { message: expect.stringMatching(/^Deployment\/backend: it has CrashLoop: repair it/) },
  },
  {
    name: "an image that can't be pulled is given half a minute",
    scene: { former: starting, troubles: [["ImagePullFailed", 29]] },
    expected: { state: "waiting", reason: "Progressing" },
  },
  {
    name: "and then it fails",
    scene: { former: starting, troubles: [["ImagePullFailed", 30]] },
    expected: { state: "failed", reason: "ImagePullFailed" },
  },
  {
    name: "a funhealthy probe is reported after half a minute",
    scene: { former: starting, troubles: [["ProbeFailing", 30]] },
    expected: { state: "waiting", reason: "ProbeFailing", requeueAfterMs: 10_000 },
  },
  {
    name: "and fails after five minutes",
    scene: { former: { ...starting, reason: "ProbeFailing" }, atSeconds: 310, troubles: [["ProbeFailing", 300]] },
    expected: { state: "failed", reason: "ProbeFailing" },
  },
  {
    name: "every component with a lasting problem is named, the most severe first",
    scene: {
      former: starting,
      troubles: [
        ["CrashLoop", 60],
        ["QuotaExceeded", 60],
      ],
      evidence: "",
    },
    expected: {
      state: "failed",
      reason: "CrashLoop",
      message: "backend: it has CrashLoop: repair it; frontend: it has QuotaExceeded: repair it",
    },
  },
  {
    name: "a problem of an environment that serves is reported, and fails nothing",
    scene: { former: starting, troubles: [["CrashLoop", 60]], mayFail: false },
    expected: { state: "waiting", reason: "CrashLoop" },
  },
  {
    name: "the failure stays between two crashes",
    scene: { former: failedBefore("CrashLoop"), troubles: [] },
    expected: { state: "failed", reason: "CrashLoop", message: "backend: as before" },
  },
  {
    name: "another failure takes its place",
    scene: { former: failedBefore("ImagePullFailed"), troubles: [["CrashLoop", 60]] },
    expected: { state: "failed", reason: "CrashLoop" },
  },
  {
    name: "degraded for a moment, as an autoscaler without figures makes it, is waited for",
    scene: { ...degraded, former: starting, atSeconds: 119 },
    expected: { state: "waiting", reason: "Degraded", message: "the deployer says so" },
  },
  {
    name: "degraded for two minutes, and no pod says why",
    scene: { ...degraded, former: starting, atSeconds: 120 },
    expected: { state: "failed", reason: "DeploymentFailed", message: "the deployer says so" },
  },
  {
    name: "degraded for a moment after a long start",
    scene: { ...degraded, former: starting, atSeconds: 600, degradedSeconds: 30 },
    expected: { state: "waiting", reason: "Degraded" },
  },
  {
    name: "degraded for two minutes after a long start",
    scene: { ...degraded, former: starting, atSeconds: 600, degradedSeconds: 120 },
    expected: { state: "failed", reason: "DeploymentFailed" },
  },
  {
    name: "degraded, and a pod says why, which may still pass",
    scene: { ...degraded, former: starting, atSeconds: 200, troubles: [["ProbeFailing", 200]] },
    expected: { state: "waiting", reason: "ProbeFailing" },
  },
  {
    name: "degraded, and a pod says why",
    scene: { ...degraded, former: starting, atSeconds: 310, troubles: [["ProbeFailing", 300]] },
    expected: { state: "failed", reason: "ProbeFailing" },
  },
  {
    name: "a pod's problem is not older than the application is unhealthy, whatever the cluster's clock says",
    scene: { former: starting, atSeconds: 29, troubles: [["ImagePullFailed", 3600]] },
    expected: { state: "waiting", reason: "Progressing" },
  },
  {
    name: "a problem that begins in the future by the cluster's clock is as old as the application is unhealthy",
    scene: { former: starting, atSeconds: 310, troubles: [["ProbeFailing", -3600]] },
    expected: { state: "failed", reason: "ProbeFailing" },
  },
  {
    name: "a condition that began in the future, because the clock was set back, hides no problem",
    scene: { former: starting, atSeconds: -3600, troubles: [["ImagePullFailed", 30]] },
    expected: { state: "failed", reason: "ImagePullFailed", requeueAfterMs: 300_000 },
  },
  {
    name: "degraded, but an environment that serves fails only by its URLs",
    scene: { state: "broken", problem: "DeploymentFailed", mayFail: false },
    expected: { state: "waiting", reason: "Degraded" },
  },
];

const migrate = { kind: "Job", name: "migrate", hook: "PreSync" };
const autoscaler = { kind: "HorizontalPodAutoscaler", name: "backend", what: "can't scale", isDegraded: true };
const claim = { kind: "PersistentVolumeClaim", name: "spare", what: "waits for a volume", isDegraded: false };
const waits = { state: "waiting", former: { ...starting, reason: "Syncing" } } as const;
const named =
  "the sync waits for Job/migrate (hook PreSync) to end, for 900 s at most\nLast output of Job/migrate:\npanic: no database";

const otherCases: readonly { name: string; scene: Scene; expected: object }[] = [
  {
    name: "a hook of twenty seconds is no news, and is looked at again soon",
    scene: { ...waits, waits: { seconds: 19, objects: [migrate] } },
    expected: { state: "waiting", reason: "Syncing", requeueAfterMs: 20_000 },
  },
  {
    name: "a hook that takes longer is named, with its last lines",
    scene: { ...waits, waits: { seconds: 21, objects: [migrate] } },
    expected: { state: "waiting", reason: "HookRunning", message: named, requeueAfterMs: 30_000 },
  },
  {
    name: "a hook whose pod has a problem is named with it",
    scene: {
      ...waits,
      waits: { seconds: 40, objects: [{ kind: "Deployment", name: "backend", hook: "Sync" }] },
      troubles: [["ImagePullFailed", 30]],
    },
    expected: {
      reason: "HookRunning",
      message: expect.stringContaining("it has ImagePullFailed: repair it\nLast output of"),
    },
  },
  {
    name: "what is no hook is named, too, and never ended",
    scene: { ...waits, waits: { seconds: 1_000, objects: [{ kind: "StatefulSet", name: "cache" }] } },
    expected: {
      state: "waiting",
      reason: "SyncWaiting",
      message: expect.stringMatching(/^the sync waits for StatefulSet\/cache to be healthy\n/),
    },
  },
  {
    name: "a hook is awaited no longer than the setting says, and fails the environment",
    scene: { ...waits, waits: { seconds: 900, objects: [migrate] } },
    expected: {
      state: "failed",
      reason: "HookTimedOut",
      message: expect.stringMatching(/^Job\/migrate \(hook PreSync\) did not end within 900 s, and was ended/),
    },
  },
  {
    name: "a failure stays while the hook runs once more",
    scene: { ...waits, former: failedBefore("SyncFailed"), waits: { seconds: 60, objects: [migrate] } },
    expected: { state: "failed", reason: "SyncFailed", message: "backend: as before" },
  },
  {
    name: "a failed hook is named with its last lines",
    scene: { state: "broken", problem: "SyncFailed", failedHooks: [migrate] },
    expected: { state: "failed", message: "the deployer says so\nLast output of Job/migrate:\npanic: no database" },
  },
  {
    name: "an autoscaler without metrics that is all that is not well stops nothing",
    scene: { ...degraded, quiet: [autoscaler], isServing: true },
    expected: { state: "serving", quiet: [autoscaler] },
  },
  {
    name: "neither does a claim that no pod uses, once the pods had their time to start",
    scene: { former: starting, atSeconds: 11, quiet: [claim], isServing: true },
    expected: { state: "serving", quiet: [claim] },
  },
  {
    name: "nor at once where that was so before",
    scene: {
      former: { status: "True", reason: "Synced", message: "" },
      wasQuiet: true,
      quiet: [claim],
      isServing: true,
    },
    expected: { state: "serving" },
  },
  {
    name: "a degraded application is not excused by a claim that only waits",
    scene: { ...degraded, former: starting, atSeconds: 120, quiet: [claim], isServing: true },
    expected: { state: "failed", reason: "DeploymentFailed" },
  },
  {
    name: "what carries traffic and is not well counts beside an autoscaler",
    scene: { ...degraded, former: starting, atSeconds: 120, quiet: [autoscaler] },
    expected: { state: "failed", reason: "DeploymentFailed" },
  },
  {
    name: "an object that is not ready is reported until the deadline of the rollout, and fails nothing itself",
    scene: { former: starting, atSeconds: 800, troubles: [["ResourceNotReady", 800]] },
    expected: { state: "waiting", reason: "ResourceNotReady" },
  },
  {
    name: "what may still pass is named behind what has lasted too long",
    scene: {
      former: starting,
      evidence: "",
      troubles: [
        ["VolumeMissing", 30],
        ["JobFailed", 30],
        ["Unschedulable", 29],
      ],
    },
    expected: {
      state: "failed",
      reason: "JobFailed",
      message: "frontend: it has JobFailed: repair it; backend: it has VolumeMissing: repair it",
    },
  },
  {
    name: "a Job that failed fails at once",
    scene: { ...degraded, former: starting, troubles: [["JobFailed", 1]] },
    expected: { state: "failed", reason: "JobFailed" },
  },
];

describe("an application that is not healthy, for another reason than its pods", () => {
  test.each(otherCases)("$name", async ({ scene, expected }) => {
    expect((await diagnose(scene)).result).toMatchObject(expected);
  });

  test("has a hook ended that takes too long, and none before", async () => {
    const endedAfter = (seconds: number) => diagnose({ ...waits, waits: { seconds, objects: [migrate] } });
    expect((await endedAfter(899)).calls.ended).toBe(0);
    expect((await endedAfter(901)).calls.ended).toBe(1);
  });

  test("keeps the first words of a hook that goes on", async () => {
    const reported = { status: "Unknown", reason: "HookRunning", message: named } as const;
    const scene: Scene = {
      ...waits,
      former: reported,
      waits: { seconds: 300, objects: [migrate] },
      evidence: "other words",
    };
    const { result, calls } = await diagnose(scene);
    expect(result).toMatchObject({ state: "waiting", reason: "HookRunning", message: named });
    expect(calls.evidences).toBe(0);
  });
});

describe("an application that is not healthy", () => {
  test.each(cases)("$name", async ({ scene, expected }) => {
    expect((await diagnose(scene)).result).toMatchObject(expected);
  });

  test("is asked for again since it is broken in this way", async () => {
    const again = { state: "broken", problem: "SyncFailed", atSeconds: 90 } as const;
    expect((await diagnose(again)).calls.retriedSince).toEqual([minutesLater(1.5)]);
    const other = await diagnose({ ...again, former: failedBefore("ChartInvalid") });
    expect(other.calls.retriedSince).toEqual([minutesLater(1.5)]);
    const same = await diagnose({ ...again, former: failedBefore("SyncFailed") });
    expect(same.calls.retriedSince).toEqual([new Date(CREATED)]);
  });

  test("keeps the words that were said first: no logs are read again, and nothing is written", async () => {
    const troubles: Scene["troubles"] = [["CrashLoop", 60]];
    const { result: first } = await diagnose({ former: starting, troubles });
    const reported = {
      status: "False",
      reason: "CrashLoop",
      message: "message" in first ? first.message : "",
    } as const;
    const { result, calls } = await diagnose({ former: reported, troubles, evidence: "other words" });
    expect(result).toMatchObject({ state: "failed", message: reported.message });
    expect(calls.evidences).toBe(0);
  });

  test("is not looked into while the deployer is at work", async () => {
    for (const state of ["unseen", "waiting"] as const) expect((await diagnose({ state })).calls.diagnoses).toBe(0);
  });

  test("has its sentence first and as many last lines as fit", async () => {
    const lines = Array.from({ length: 20 }, (_, index) => `${index}: ${"x".repeat(200)}`);
    const { result } = await diagnose({ former: starting, troubles: [["CrashLoop", 60]], evidence: lines.join("\n") });
    const { message } = result as { message: string };
    expect(message.length).toBeLessThanOrEqual(2048);
    expect(message).toMatch(/^backend: it has CrashLoop: repair it\nLast output of backend:\n1\d: x/);
    expect(message.endsWith(lines.at(-1) ?? "")).toBe(true);
  });
});
