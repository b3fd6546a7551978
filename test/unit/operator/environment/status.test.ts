import { describe, expect, test } from "@jest/globals";
import { findCondition, type StepCondition } from "../../../../crds/conditions.ts";
import type {
  EnvironmentSpec,
  EnvironmentStatus,
  EphemeralEnvironment,
} from "../../../../crds/environment/ephemeral-environment.ts";
import { DELETED_BRANCH_ANNOTATION, RECONCILE_ANNOTATION } from "../../../../crds/group.ts";
import { BACKING_SERVICES } from "../../../../operator/environment/backing-services/index.ts";
import { specHash } from "../../../../operator/environment/progress.ts";
import { createSchedule } from "../../../../operator/environment/schedule.ts";
import { isProgress, sameStatus, statusAfter } from "../../../../operator/environment/status.ts";
import { done, failed, type StepResult, waiting, withFindings } from "../../../../operator/environment/step-result.ts";
import { environmentSteps } from "../../../../operator/environment/steps/index.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  fixtureSettings,
  minutesLater,
  pipelineFixture,
} from "../../../support/fixtures/environment-fixture.ts";

const soon = { requeueAfterMs: 1 };
const schedule = createSchedule(new TestClock(), 60_000);
const plan = environmentSteps(BACKING_SERVICES, { probes: schedule, secretChecks: schedule });
const stepConditions = plan.map(({ condition }) => condition);
const allDone = new Map<StepCondition, StepResult>(stepConditions.map((type) => [type, done("Fine")]));
const but = (type: StepCondition, result: StepResult) => new Map(allDone).set(type, result);
const hashOf = (commit: string) => commit.slice(0, 12);
const sourceOf = (commit: string) => ({ branch: "main", commit });
/** As the steps leave it when the application was given one commit, and another one runs and answered. */
const found = (applied: string, { running, spec }: { running?: string; spec?: Partial<EnvironmentSpec> } = {}) => ({
  sources: { backend: { resolved: sourceOf(applied), applied: { ...sourceOf(applied), image: "image" } } },
  ...(running === undefined
    ? {}
    : { components: { backend: { commit: running, revision: `0123456789ab+${hashOf(running)}` } } }),
  desiredHash: hashOf(applied),
  renderedSpecHash: specHash(environmentFixture({ spec: { backend: { ...wish, commit: applied }, ...spec } }).spec),
  ...(running === undefined ? {} : { readyAt: CREATED, servingHash: hashOf(running) }),
});
const wish = { repository: "shop-api", branch: "main" };
const serving = but("UrlsReady", done("Answering", { findings: found(commitA, { running: commitA }) }));
/** Another commit is wanted, and the one before answers. */
const commitB = "b".repeat(40);
const updating = but(
  "ApplicationSynced",
  withFindings(waiting("Syncing", "syncing", soon), found(commitB, { running: commitA })),
);
const commitC = "c".repeat(40);
const commitCSettled = done("Resolved", { findings: found(commitC, { running: commitA }) });

function judged(
  environment: EphemeralEnvironment,
  results: ReadonlyMap<StepCondition, StepResult>,
  minutes = 1,
): EnvironmentStatus {
  return statusAfter(environment, results, {
    now: minutesLater(minutes),
    settings: fixtureSettings,
    conditions: stepConditions,
  });
}

const ready = judged(environmentFixture(), serving);
const updated = {
  spec: { backend: { ...wish, commit: commitB } },
  status: ready,
  metadata: { generation: 2 },
};
const readyOf = ({ conditions }: EnvironmentStatus) => findCondition(conditions, "Ready");

describe("a status", () => {
  test("sums up steps that are all done", () => {
    expect(ready).toMatchObject({ phase: "ready", readyAt: CREATED, observedGeneration: 1, ttlHours: 24 });
    expect(readyOf(ready)).toMatchObject({ status: "True", reason: "Ready", message: "" });
    expect(ready.conditions?.map(({ type }) => type)).toEqual([...stepConditions, "Ready"]);
  });

  test("is the same after a reconcile without news, however late", () => {
    const again = judged(environmentFixture({ status: ready }), serving, 500);
    expect(sameStatus(ready, again)).toBe(true);
  });

  test("is compared as the API server answers it", () => {
    expect(sameStatus({ phase: "ready" }, { phase: "ready", url: undefined } as never)).toBe(true);
    expect(sameStatus(undefined, {})).toBe(true);
    expect(sameStatus(undefined, { phase: "ready" })).toBe(false);
  });

  test("keeps the conditions and findings of steps that did not run", () => {
    const first = judged(
      environmentFixture(),
      new Map([["NamespaceReady", done("Created", { findings: { namespace: "env-shop" } })]]),
    );
    const second = judged(environmentFixture({ status: first }), new Map([["SourceResolved", failed("Gone", "gone")]]));
    expect(second.namespace).toBe("env-shop");
    expect(findCondition(second.conditions, "NamespaceReady")).toMatchObject({ status: "True", reason: "Created" });
  });

  test("names the first step that waits, and what a user can do about one that failed", () => {
    const pending = judged(environmentFixture(), but("SecretsReady", waiting("Slow", "the manager is slow", soon)));
    expect(readyOf(pending)).toMatchObject({ status: "Unknown", reason: "Slow", message: "the manager is slow" });
    const broken = judged(environmentFixture(), but("SourceResolved", failed("BranchNotFound", "push it")));
    expect(broken.phase).toBe("failed");
    expect(readyOf(broken)).toMatchObject({ status: "False", reason: "BranchNotFound", message: "push it" });
  });

  test("bounds a message to what the schema admits", () => {
    const endless = judged(environmentFixture(), but("UrlsReady", waiting("Slow", "x".repeat(5_000), soon)), 20);
    for (const { message } of endless.conditions ?? []) expect(message.length).toBeLessThanOrEqual(2048);
  });

  test("answers a requested reconcile", () => {
    const metadata = { annotations: { [RECONCILE_ANNOTATION]: "token" } };
    expect(judged(environmentFixture({ metadata }), allDone).lastHandledReconcileAt).toBe("token");
    expect(judged(environmentFixture(), allDone)).not.toHaveProperty("lastHandledReconcileAt");
  });

  test.each([
    [128, 128],
    [129, undefined],
  ])("answers a question of %s characters only if its schema can hold it", (length, answered) => {
    const metadata = { annotations: { [RECONCILE_ANNOTATION]: "x".repeat(length) } };
    expect(judged(environmentFixture({ metadata }), allDone).lastHandledReconcileAt?.length).toBe(answered);
  });

  test("tells when the spec changed last: at first, when the environment was made", () => {
    expect(ready.specChangedAt).toBe(CREATED);
    expect(judged(environmentFixture({ status: ready }), serving, 600).specChangedAt).toBe(CREATED);
    expect(judged(environmentFixture(updated), updating, 600).specChangedAt).toBe(minutesLater(600).toISOString());
  });
});

describe("progress alone", () => {
  const slow = but("SecretsReady", waiting("Slow", "the manager is slow", soon));
  const slower = but("SecretsReady", waiting("Slower", "the manager is slower", soon));
  const creating = judged(environmentFixture(), slow);
  const progress = (fixture: Parameters<typeof environmentFixture>[0], results = slower) =>
    isProgress(environmentFixture(fixture), judged(environmentFixture(fixture), results));

  test("is what is told of a creation, from nothing on, until there is a verdict", () => {
    expect(progress({})).toBe(true);
    expect(progress({ status: creating })).toBe(true);
    expect(progress({ status: creating }, serving)).toBe(false);
    expect(progress({ status: creating }, but("SourceResolved", failed("BranchNotFound", "push it")))).toBe(false);
  });

  test("is not a change from True or False, nor an answer to a request", () => {
    expect(progress(updated)).toBe(false);
    expect(progress({ status: creating, metadata: { generation: 2 } })).toBe(false);
    const asking = { metadata: { annotations: { [RECONCILE_ANNOTATION]: "token" } } };
    expect([progress(asking), progress({ ...asking, status: creating })]).toEqual([false, false]);
  });
});

describe("the deadline", () => {
  const stuck: ReadonlyMap<StepCondition, StepResult> = new Map([
    ["NamespaceReady", waiting("Slow", "still waiting", soon)],
  ]);

  test.each([
    [15, "creating"],
    [15.1, "failed"],
    // The clock was set back.
    [-15, "creating"],
    [-15.1, "failed"],
  ])("of a creation: after %s minutes it is %s", (minutes, phase) => {
    const late = judged(environmentFixture(), stuck, minutes);
    expect(late.phase).toBe(phase);
    expect(readyOf(late)?.message).toContain("still waiting");
  });

  test("heals when the environment serves after all", () => {
    const late = judged(environmentFixture(), stuck, 20);
    expect(judged(environmentFixture({ status: late }), serving, 21).phase).toBe("ready");
  });

  test.each([
    [14, "updating"],
    [15.1, "failed"],
  ])("of an update: %s minutes after the change it is %s", (minutes, phase) => {
    const begun = judged(environmentFixture(updated), updating, 600);
    expect(begun).toMatchObject({ phase: "updating", rollout: { since: minutesLater(600).toISOString() } });
    const later = judged(environmentFixture({ ...updated, status: begun }), updating, 600 + minutes);
    expect(later).toMatchObject({ phase, rollout: begun.rollout });
  });

  const sourceUnknown = new Map([["SourceResolved", waiting("RepositoryHostUnavailable", "away", soon)]] as const);
  test.each([
    ["another commit that was settled", { commit: commitC }, but("SourceResolved", commitCSettled)],
    ["another branch whose head is not known yet", { branch: "other", commit: "" }, sourceUnknown],
  ])("begins anew with %s", (_what, source, results) => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const spec = { backend: { ...updated.spec.backend, ...source } };
    const again = judged(environmentFixture({ spec, status: begun, metadata: { generation: 3 } }), results, 610);
    expect(again).toMatchObject({ phase: "updating", rollout: { since: minutesLater(610).toISOString() } });
  });

  test("begins anew when an override changes, also before its values are known", () => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const spec = { ...updated.spec, overrides: { backend: { replicas: 2 } } };
    const away = new Map([["SecretsReady", waiting("SecretManagerUnavailable", "away", soon)]] as const);
    const again = judged(environmentFixture({ spec, status: begun, metadata: { generation: 3 } }), away, 610);
    expect(again.rollout?.since).toBe(minutesLater(610).toISOString());
  });

  test.each([
    ["the end of the pipeline that built the commit", "success", 640, 655],
    ["the end of our patience with one that fell silent", "running", 600, 735],
  ] as const)("is counted from %s", (_what, status, at, until) => {
    const pipeline = pipelineFixture({ commit: commitB, status, at: minutesLater(at).toISOString() });
    const wanted = { ...updated, spec: { backend: { ...updated.spec.backend, pipeline } } };
    const begun = judged(environmentFixture(wanted), updating, 600);
    expect(judged(environmentFixture({ ...wanted, status: begun }), updating, until).phase).toBe("updating");
    expect(judged(environmentFixture({ ...wanted, status: begun }), updating, until + 0.1).phase).toBe("failed");
  });

  test("is not moved by the pipeline of a commit that is not wanted", () => {
    const pipeline = pipelineFixture({ commit: commitC, status: "success", at: minutesLater(640).toISOString() });
    const wanted = { ...updated, spec: { backend: { ...updated.spec.backend, pipeline } } };
    const begun = judged(environmentFixture(wanted), updating, 600);
    expect(judged(environmentFixture({ ...wanted, status: begun }), updating, 615.1).phase).toBe("failed");
  });

  test("is not moved by an extension", () => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const extended = { spec: { ...updated.spec, ttlHours: 48 }, status: begun, metadata: { generation: 3 } };
    expect(judged(environmentFixture(extended), updating, 614).rollout).toEqual(begun.rollout);
  });
});

test("an extension buys no time while the git host is away either", () => {
  const away = new Map([["SourceResolved", waiting("RepositoryHostUnavailable", "away", soon)]] as const);
  const begun = judged(environmentFixture(), away, 1);
  const extended = { spec: { ttlHours: 48 }, status: begun, metadata: { generation: 2 } };
  expect(judged(environmentFixture(extended), away, 14).rollout).toEqual(begun.rollout);
  expect(judged(environmentFixture(extended), away, 16).phase).toBe("failed");
});

describe("an environment that was ready", () => {
  const was = environmentFixture({ status: ready });

  test.each([
    ["while a pod restarts", "ApplicationSynced", waiting("Progressing", "pods are starting", soon), "ready"],
    ["while a URL is silent", "UrlsReady", waiting("UrlDown", "silent", soon), "ready"],
    ["while a dependency is away", "SecretsReady", waiting("SecretManagerUnavailable", "away", soon), "ready"],
    ["when a URL was down for too long", "UrlsReady", failed("UrlDown", "down"), "failed"],
    ["when its name is taken", "NamespaceReady", failed("NameTaken", "no"), "failed"],
  ] as const)("%s: %s", (_what, type, result, phase) => {
    expect(judged(was, but(type, result), 600).phase).toBe(phase);
  });

  test("is ready in another way when only its TTL, owner or access changed", () => {
    const spec = { ttlHours: 48, access: { groups: ["team"] } };
    const changed = environmentFixture({ spec, status: ready, metadata: { generation: 2 } });
    expect(judged(changed, serving, 600)).toMatchObject({ phase: "ready", observedGeneration: 2, ttlHours: 48 });
  });
});

describe("an update", () => {
  test("shows at once, also while what it needs is away", () => {
    const spec = { overrides: { backend: { replicas: 2 } } };
    const changed = environmentFixture({ spec, status: ready, metadata: { generation: 2 } });
    const away = new Map([["SecretsReady", waiting("SecretManagerUnavailable", "away", soon)]] as const);
    expect(judged(changed, away, 600)).toMatchObject({ phase: "updating", observedGeneration: 2 });
  });

  test("is not over when it was taken back before what it brought is gone", () => {
    const ranB = { ...found(commitA, { running: commitB }), servingHash: hashOf(commitA) };
    const back = environmentFixture({ status: { ...ready, ...found(commitB, { running: commitB }) } });
    expect(judged(back, but("ApplicationSynced", withFindings(waiting("Syncing", "", soon), ranB))).phase).toBe(
      "updating",
    );
  });
});

describe("a suspended environment", () => {
  const suspended = environmentFixture({ spec: { suspended: true }, status: ready, metadata: { generation: 2 } });
  const asleep = { ...found(commitA, { running: commitA, spec: { suspended: true } }), servingHash: "" };
  const sleeping = but("UrlsReady", done("Suspended", { findings: asleep }));

  test("is ready, and has the condition Suspended", () => {
    const status = judged(suspended, sleeping, 600);
    expect(status.phase).toBe("ready");
    expect(findCondition(status.conditions, "Suspended")).toMatchObject({ status: "True", reason: "Suspended" });
    expect(sameStatus(status, judged({ ...suspended, status }, sleeping, 900))).toBe(true);
  });

  test("is ready also when it never ran", () => {
    const { readyAt: _, ...never } = asleep;
    const made = environmentFixture({ spec: { suspended: true } });
    expect(judged(made, but("UrlsReady", done("Suspended", { findings: never }))).phase).toBe("ready");
  });

  test("is updating until all of it is scaled to zero", () => {
    const wanted = { ...asleep, desiredHash: "hash of values" };
    const falling = but("ApplicationSynced", withFindings(waiting("Syncing", "", soon), wanted));
    const status = judged(suspended, falling, 600);
    expect(status.phase).toBe("updating");
    expect(findCondition(status.conditions, "Suspended")).toBeUndefined();
  });

  test("is not suspended before its application is told so", () => {
    const stopped: ReadonlyMap<StepCondition, StepResult> = new Map<StepCondition, StepResult>([
      ["SecretsReady", waiting("Slow", "slow", soon)],
      ["UrlsReady", done("Suspended", { findings: { servingHash: "" } })],
    ]);
    expect(findCondition(judged(suspended, stopped, 600).conditions, "Suspended")).toBeUndefined();
  });

  test("stays suspended while another commit is applied", () => {
    const status = judged(suspended, sleeping, 600);
    const moved = environmentFixture({ ...updated, spec: { ...updated.spec, suspended: true }, status });
    const syncing = but("ApplicationSynced", waiting("Syncing", "", soon));
    expect(findCondition(judged(moved, syncing, 610).conditions, "Suspended")?.status).toBe("True");
  });

  test("is resumed only when its URLs have answered again", () => {
    const status = judged(suspended, sleeping, 600);
    const woken = environmentFixture({ status, metadata: { generation: 3 } });
    const up = { ...found(commitA, { running: commitA }), servingHash: "" };
    const silent = but("UrlsReady", withFindings(waiting("NotAnswering", "silent", soon), up));
    const waking = judged(woken, silent, 610);
    expect(waking.phase).toBe("updating");
    expect(findCondition(waking.conditions, "Suspended")).toBeUndefined();
    expect(judged({ ...woken, status: waking }, serving, 611).phase).toBe("ready");
  });
});

describe("a commit that is being built", () => {
  const pipeline = pipelineFixture({ commit: commitB, at: minutesLater(600).toISOString() });
  const wanted = { ...updated, spec: { backend: { ...updated.spec.backend, pipeline } } };
  const { sources, ...running } = found(commitA, { running: commitA });
  const held = { sources: { backend: { ...sources.backend, resolved: sourceOf(commitB) } } };
  const building = new Map(allDone)
    .set("SourceResolved", withFindings(waiting("Building", "pipeline 7 builds", soon), { ...held, ...running }))
    .set("UrlsReady", done("Answering"));

  test("makes the environment building, for as long as it may", () => {
    const begun = judged(environmentFixture(wanted), building, 600);
    expect(begun.phase).toBe("building");
    expect(readyOf(begun)).toMatchObject({ status: "Unknown", reason: "Building" });
    expect(judged(environmentFixture({ ...wanted, status: begun }), building, 719).phase).toBe("building");
  });

  test("is deployed when its pipeline fell silent, which is said", () => {
    const begun = judged(environmentFixture(wanted), building, 600);
    const gone = judged(environmentFixture({ ...wanted, status: begun }), updating, 721);
    expect(gone.phase).toBe("updating");
    expect(findCondition(gone.conditions, "PipelineSilent")?.message).toContain("pipeline 7 of g/shop");
    const over = {
      spec: { backend: { ...wanted.spec.backend, pipeline: { ...pipeline, status: "success" as const } } },
    };
    const later = judged(environmentFixture({ ...wanted, ...over, status: gone }), updating, 722);
    expect(findCondition(later.conditions, "PipelineSilent")).toBeUndefined();
  });

  test("fails the environment when it could not be built", () => {
    const pipelineFailed = withFindings(failed("PipelineFailed", "pipeline 7"), { ...held, ...running });
    const broken = new Map(building).set("SourceResolved", pipelineFailed);
    const status = judged(environmentFixture(wanted), broken, 600);
    expect(status.phase).toBe("failed");
    expect(readyOf(status)).toMatchObject({ status: "False", reason: "PipelineFailed" });
  });
});

describe("a lowered TTL", () => {
  test("is granted its grace period once", () => {
    const lowered = environmentFixture({ spec: { ttlHours: 1 }, status: ready, metadata: { generation: 2 } });
    const first = judged(lowered, allDone, 120);
    expect(first.expiryNotBefore).toBe(minutesLater(135).toISOString());
    const second = judged({ ...lowered, status: first }, allDone, 130);
    expect(second.expiryNotBefore).toBe(first.expiryNotBefore);
    expect(second.expiresAt).toBe(minutesLater(60).toISOString());
  });
});

describe("a TTL that is not set", () => {
  test.each([
    ["is a day", 168, 24],
    ["is the longest that the settings allow, where that is shorter", 8, 8],
  ])("%s, and stays so", (_rule, maximumHours, expected) => {
    const settle = (environment: EphemeralEnvironment, ttl: { maximumHours: number }) =>
      statusAfter(environment, allDone, {
        ...{ now: minutesLater(1), conditions: stepConditions },
        settings: { ...fixtureSettings, ttl },
      });
    const settled = settle(environmentFixture(), { maximumHours });
    expect(settled).toMatchObject({ ttlHours: expected, expiresAt: minutesLater(expected * 60).toISOString() });
    expect(settle(environmentFixture({ status: settled }), { maximumHours: 3 }).ttlHours).toBe(expected);
  });
});

describe("the TTL of a config set", () => {
  const settling = (ttlDefaultHours: number) => {
    const configSet = { name: "default", version: 1, revision: "default-1", ttlDefaultHours };
    return but("ConfigurationResolved", done("Resolved", { findings: { configSet } }));
  };

  test("applies from the first reconcile, also when it is short", () => {
    expect(judged(environmentFixture(), settling(2))).toMatchObject({
      ...{ ttlHours: 2, expiresAt: "2026-01-01T02:00:00.000Z" },
    });
    expect(judged(environmentFixture(), settling(2))).not.toHaveProperty("expiryNotBefore");
  });

  test("is at most the longest that the settings allow", () => {
    const settings = { ...fixtureSettings, ttl: { maximumHours: 4 } };
    const context = { now: minutesLater(1), settings, conditions: stepConditions };
    expect(statusAfter(environmentFixture(), settling(8), context).ttlHours).toBe(4);
  });

  test("is that of the first version, whatever a later one says", () => {
    const first = judged(environmentFixture(), settling(5));
    expect(judged(environmentFixture({ status: first }), settling(2)).ttlHours).toBe(5);
  });

  test("yields to one that is asked for", () => {
    const asked = judged(environmentFixture({ spec: { ttlHours: 5 } }), settling(2));
    expect(asked).toMatchObject({ ttlHours: 5, expiresAt: "2026-01-01T05:00:00.000Z" });
  });

  test("grants a grace period when it is resolved late", () => {
    const late = environmentFixture({ status: judged(environmentFixture(), allDone) });
    expect(judged(late, settling(2), 180)).toMatchObject({
      ...{ ttlHours: 2, expiresAt: "2026-01-01T02:00:00.000Z", expiryNotBefore: "2026-01-01T03:15:00.000Z" },
    });
  });
});

describe("a protection", () => {
  const shielded = judged(environmentFixture({ spec: { ttlHours: 1, protected: true } }), serving, 120);

  test("is granted one grace period when it is removed after the expiry", () => {
    expect(shielded).toMatchObject({ protected: true });
    expect(shielded).not.toHaveProperty("expiryNotBefore");
    const lifted = environmentFixture({ spec: { ttlHours: 1 }, status: shielded, metadata: { generation: 2 } });
    const first = judged(lifted, serving, 130);
    expect(first).toMatchObject({ expiryNotBefore: minutesLater(145).toISOString() });
    expect(first).not.toHaveProperty("protected");
    expect(judged({ ...lifted, status: first }, serving, 140).expiryNotBefore).toBe(first.expiryNotBefore);
  });

  test("changes nothing that runs", () => {
    expect(shielded.phase).toBe("ready");
  });
});

describe("a branch that its host reported as deleted", () => {
  const goneOf = (branch: string, annotations?: Record<string, string>) => {
    const source = { repository: "shop-api", branch };
    const metadata = annotations === undefined ? {} : { annotations };
    return findCondition(
      judged(environmentFixture({ metadata, spec: { backend: source } }), allDone, 1).conditions,
      "SourceGone",
    );
  };
  const reported = { [DELETED_BRANCH_ANNOTATION.backend]: "feature" };

  test("is shown", () => {
    expect(goneOf("feature", reported)).toMatchObject({ status: "True" });
    expect(goneOf("feature", reported)?.message).toContain("'feature'");
  });

  test("is not shown for another branch, nor without the report", () => {
    expect(goneOf("main", reported)).toBeUndefined();
    expect(goneOf("feature")).toBeUndefined();
  });
});
