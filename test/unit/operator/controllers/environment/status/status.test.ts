import { describe, expect, test } from "@jest/globals";
import { findCondition } from "../../../../../../crds/conditions.ts";
import { DELETED_BRANCH_ANNOTATION, RECONCILE_ANNOTATION } from "../../../../../../crds/group.ts";
import { isProgress, sameStatus } from "../../../../../../operator/controllers/environment/status/status.ts";
import { done, failed, waiting } from "../../../../../../operator/controllers/environment/step-result.ts";
import {
  CREATED,
  environmentFixture,
  minutesLater,
} from "../../../../../support/fixtures/environment/environment-fixture.ts";
import {
  allDone,
  but,
  judged,
  ready,
  readyOf,
  serving,
  soon,
  stepConditions,
  updated,
  updating,
} from "./judged-status.ts";

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

  test("has the time of the last change of the spec: at first, of the creation", () => {
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

  test("is the state of a creation, from nothing on, until there is a verdict", () => {
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

describe("what is not well and carries no traffic", () => {
  const unwell = { reason: "Unhealthy", message: "CronJob/report did not succeed" } as const;
  const served = new Map(serving).set("ApplicationSynced", { ...done("Synced"), notice: unwell });
  const ofUnwell = judged(environmentFixture(), served);
  const noticeOf = (results: typeof served, status = ready) =>
    findCondition(judged(environmentFixture({ status }), results).conditions, "ResourcesHealthy");

  test("is named, and the environment is ready", () => {
    expect(findCondition(ofUnwell.conditions, "ResourcesHealthy")).toMatchObject({ status: "False", ...unwell });
    expect(ofUnwell.phase).toBe("ready");
    expect(readyOf(ofUnwell)).toMatchObject({ status: "True", message: "" });
  });

  test("stays named while the application is synced again, and no longer than it is so", () => {
    const syncing = but("ApplicationSynced", waiting("Syncing", "", soon));
    expect(noticeOf(syncing, ofUnwell)).toMatchObject({ status: "False", ...unwell });
    const well = but("ApplicationSynced", { ...done("Synced"), notice: { reason: "Unhealthy", message: "" } });
    expect(noticeOf(well, ofUnwell)).toBeUndefined();
    expect(noticeOf(syncing)).toBeUndefined();
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
