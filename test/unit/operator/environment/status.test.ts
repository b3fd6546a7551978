import { describe, expect, test } from "@jest/globals";
import { findCondition, STEP_CONDITIONS, type StepCondition } from "../../../../crds/conditions.ts";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/ephemeral-environment.ts";
import { RECONCILE_ANNOTATION } from "../../../../crds/group.ts";
import { sameStatus, statusAfter } from "../../../../operator/environment/status.ts";
import { done, failed, type StepResult, waiting } from "../../../../operator/environment/step.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  fixtureSettings,
  minutesLater,
} from "../../../support/environment-fixture.ts";

const soon = { recheckAfterMs: 1 };
const allDone = new Map<StepCondition, StepResult>(STEP_CONDITIONS.map((type) => [type, done("Fine")]));
const but = (type: StepCondition, result: StepResult) => new Map(allDone).set(type, result);
/** As the steps leave it that settle the source, have it run, and hear it answer. */
const found = (commit: string, answered?: string) => ({
  components: { backend: { branch: "main", commit } },
  wanted: `hash of ${commit}`,
  ...(answered === undefined ? {} : { readyAt: CREATED, answered: `hash of ${answered}` }),
});
const serving = but("UrlsReady", done("Answering", { findings: found(commitA, commitA) }));
/** Another commit is wanted, and the one before answers. */
const commitB = "b".repeat(40);
const updating = but(
  "ApplicationSynced",
  waiting("Syncing", "syncing", { ...soon, findings: found(commitB, commitA) }),
);
const commitCSettled = done("Resolved", { findings: found("c".repeat(40), commitA) });

function judged(
  environment: EphemeralEnvironment,
  results: ReadonlyMap<StepCondition, StepResult>,
  minutes = 1,
): EnvironmentStatus {
  return statusAfter(environment, results, { now: minutesLater(minutes), settings: fixtureSettings });
}

const ready = judged(environmentFixture(), serving);
const updated = {
  spec: { backend: { repository: "shop-api", branch: "main", commit: commitB } },
  status: ready,
  metadata: { generation: 2 },
};
const readyOf = ({ conditions }: EnvironmentStatus) => findCondition(conditions, "Ready");

describe("a status", () => {
  test("sums up steps that are all done", () => {
    expect(ready).toMatchObject({ phase: "ready", readyAt: CREATED, observedGeneration: 1, ttlHours: 24 });
    expect(readyOf(ready)).toMatchObject({ status: "True", reason: "Ready", message: "" });
    expect(ready.conditions?.map(({ type }) => type)).toEqual([...STEP_CONDITIONS, "Ready"]);
  });

  test("says the same after a pass that found nothing new, however late", () => {
    const again = judged(environmentFixture({ status: ready }), serving, 500);
    expect(sameStatus(ready, again)).toBe(true);
  });

  test("is compared as the API server answers it", () => {
    expect(sameStatus({ phase: "ready" }, { phase: "ready", url: undefined } as never)).toBe(true);
    expect(sameStatus(undefined, {})).toBe(true);
    expect(sameStatus(undefined, { phase: "ready" })).toBe(false);
  });

  test("keeps what steps said that this pass did not take", () => {
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

  test("answers a question for a pass, and no other", () => {
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

describe("the deadline", () => {
  const stuck: ReadonlyMap<StepCondition, StepResult> = new Map([
    ["NamespaceReady", waiting("Slow", "still waiting", soon)],
  ]);

  test.each([
    [15, "creating"],
    [15.1, "failed"],
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
    expect(begun).toMatchObject({ phase: "updating", pursuing: { since: minutesLater(600).toISOString() } });
    const later = judged(environmentFixture({ ...updated, status: begun }), updating, 600 + minutes);
    expect(later).toMatchObject({ phase, pursuing: begun.pursuing });
  });

  const sourceUnknown = new Map([["SourceResolved", waiting("RepositoryHostUnavailable", "away", soon)]] as const);
  test.each([
    ["another commit that was settled", { commit: "c".repeat(40) }, but("SourceResolved", commitCSettled)],
    ["another branch whose head is not known yet", { branch: "other", commit: "" }, sourceUnknown],
  ])("begins anew with %s", (_what, source, results) => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const spec = { backend: { ...updated.spec.backend, ...source } };
    const again = judged(environmentFixture({ spec, status: begun, metadata: { generation: 3 } }), results, 610);
    expect(again).toMatchObject({ phase: "updating", pursuing: { since: minutesLater(610).toISOString() } });
  });

  test("is not moved by an extension", () => {
    const begun = judged(environmentFixture(updated), updating, 600);
    const extended = { spec: { ...updated.spec, ttlHours: 48 }, status: begun, metadata: { generation: 3 } };
    expect(judged(environmentFixture(extended), updating, 614).pursuing).toEqual(begun.pursuing);
  });
});

test("an extension buys no time while the git host is away either", () => {
  const away = new Map([["SourceResolved", waiting("RepositoryHostUnavailable", "away", soon)]] as const);
  const begun = judged(environmentFixture(), away, 1);
  const extended = { spec: { ttlHours: 48 }, status: begun, metadata: { generation: 2 } };
  expect(judged(environmentFixture(extended), away, 14).pursuing).toEqual(begun.pursuing);
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

describe("a lowered TTL", () => {
  test("is granted its reprieve once", () => {
    const lowered = environmentFixture({ spec: { ttlHours: 1 }, status: ready, metadata: { generation: 2 } });
    const first = judged(lowered, allDone, 120);
    expect(first.expiryNotBefore).toBe(minutesLater(135).toISOString());
    const second = judged({ ...lowered, status: first }, allDone, 130);
    expect(second.expiryNotBefore).toBe(first.expiryNotBefore);
    expect(second.expiresAt).toBe(minutesLater(60).toISOString());
  });
});
