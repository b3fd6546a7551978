import { describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../../../../crds/group.ts";
import { deleted, eventsOf } from "../../../../../operator/environment/events/environment-events.ts";
import { CREATED, commitA, environmentFixture } from "../../../../support/fixtures/environment-fixture.ts";

type Parts = NonNullable<Parameters<typeof environmentFixture>[0]>;
type Condition = NonNullable<EnvironmentStatus["conditions"]>[number];

const commitB = "b".repeat(40);
const READY_AT = "2026-01-01T00:00:42.000Z";
const condition = (type: Condition["type"], status: Condition["status"], reason: string, message = ""): Condition => ({
  ...{ type, status, reason, message, lastTransitionTime: CREATED },
});
const isReady = condition("Ready", "True", "Ready");
const unready = condition("Ready", "Unknown", "Progressing");
const failedOf = (reason: string, message = "it failed") => condition("Ready", "False", reason, message);
const asleep = condition("Suspended", "True", "Suspended");

const running: EnvironmentStatus = {
  ...{ observedGeneration: 1, ttlHours: 24, servingHash: "one", readyAt: READY_AT, conditions: [isReady] },
  ...{ expiresAt: "2026-01-02T00:00:00.000Z", components: { backend: { commit: commitA } } },
};
const rollout = { asked: "two", since: CREATED };

/** The words of what follows when the one is stored in the place of the other. */
function words(before: Parts, after: Parts, writers: readonly string[] = []): readonly string[] {
  const change = { before: environmentFixture(before), after: environmentFixture(after), writers };
  return eventsOf(change).map(({ type, reason, message }) => `${type} ${reason}: ${message}`);
}

describe("an environment's creation", () => {
  test.each<[string, Parts, readonly string[], string]>([
    ["with kubectl", {}, ["kubectl-create"], "Normal Created: made by kubectl-create"],
    ["by REST", {}, [], "Normal Created: made through the REST interface"],
    [
      "by REST, with an audit record",
      { metadata: { annotations: { [AUDIT_ID_ANNOTATION]: "a1" } } },
      [],
      "Normal Created: made through the REST interface (audit record a1)",
    ],
    [
      "for a pull request",
      { spec: { trigger: { kind: "pull_request", provider: "git", repository: "shop-api", number: 42 } } },
      [],
      "Normal Created: made for pull request 42 of Repository shop-api",
    ],
  ])("%s is told once", (_how, parts, writers, expected) => {
    const first = { observedGeneration: 1, conditions: [unready] };
    expect(words(parts, { ...parts, status: first }, writers)).toEqual([expected]);
    expect(words({ ...parts, status: first }, { ...parts, status: first }, writers)).toEqual([]);
  });

  test("ends with the time that it took", () => {
    const making = { status: { observedGeneration: 1, conditions: [unready] } };
    expect(words(making, { status: running })).toEqual(["Normal Ready: ready 42 s after its creation"]);
  });
});

test("a reconcile that finds nothing new has no event", () => {
  expect(words({ status: running }, { status: { ...running, lastHandledReconcileAt: "token" } })).toEqual([]);
});

describe("a failure", () => {
  test("is told with its reason, without what containers wrote, once for each reason", () => {
    const status = { ...running, conditions: [failedOf("CrashLoop", "it crashes\nlast line: hunter2")] };
    expect(words({ status: running }, { status })).toEqual(["Warning Failed: CrashLoop: it crashes"]);
    const again = { ...status, conditions: [failedOf("CrashLoop", "it crashes for longer")] };
    expect(words({ status }, { status: again })).toEqual([]);
    expect(words({ status }, { status: { ...running, conditions: [failedOf("ImagePull")] } })).toHaveLength(1);
  });

  test("that heals is told as ready again", () => {
    const broken = { ...running, conditions: [failedOf("CrashLoop")] };
    expect(words({ status: broken }, { status: running })).toEqual(["Normal Ready: ready again"]);
  });
});

test("an update is told when it begins, with its commit, and when it is over", () => {
  const spec = { backend: { repository: "shop-api", branch: "main", commit: commitB } };
  const updating = { ...running, observedGeneration: 2, rollout, conditions: [unready] };
  const metadata = { generation: 2 };
  expect(words({ spec, metadata, status: running }, { spec, metadata, status: updating })).toEqual([
    "Normal UpdateStarted: update to backend at bbbbbbbb; what runs stays until that is ready",
  ]);
  const { rollout: _, ...settled } = { ...updating, servingHash: "two", conditions: [isReady] };
  expect(words({ spec, metadata, status: updating }, { spec, metadata, status: settled })).toEqual([
    "Normal Updated: updated: what the spec asks for runs, and all URLs answer",
  ]);
});

test("sleep and waking are told", () => {
  const sleeping = { ...running, observedGeneration: 2, servingHash: "", conditions: [isReady, asleep] };
  const spec = { suspended: true };
  expect(words({ spec, status: running }, { spec, status: sleeping })).toContain(
    "Normal Asleep: asleep: scaled to zero; secrets and data stay",
  );
  const waking = { ...running, servingHash: "", conditions: [unready] };
  expect(words({ status: waking }, { status: running })).toEqual(["Normal Awake: awake: all URLs answer again"]);
});

describe("an extension", () => {
  const spec = { ttlHours: 48 };
  const metadata = { generation: 2 };
  const extended = { ...running, observedGeneration: 2, ttlHours: 48, expiresAt: "2026-01-03T00:00:00.000Z" };

  test.each([
    [["kubectl-edit"], "by kubectl-edit"],
    [[], "through the REST interface"],
  ])("says by whom, as far as the resource tells: %j", (writers, by) => {
    expect(words({ spec, metadata, status: running }, { spec, metadata, status: extended }, writers)).toEqual([
      `Normal Extended: extended from 24 to 48 hours, until 2026-01-03T00:00:00.000Z, ${by}`,
    ]);
  });

  test("is none where the TTL became shorter, or is only a new default", () => {
    const shorter = { ...extended, ttlHours: 12 };
    expect(words({ spec, metadata, status: running }, { spec, metadata, status: shorter })).toEqual([]);
    expect(words({ metadata, status: running }, { metadata, status: extended })).toEqual([]);
  });
});

describe("a deletion", () => {
  const metadata = { deletionTimestamp: "2026-01-01T10:00:00Z" };
  const blockedBy = (...blockers: readonly { kind: string; name: string; reason: string; message: string }[]) =>
    ({ ...running, teardown: { blockers } }) as unknown as EnvironmentStatus;
  const finalizer = { kind: "Pod", name: "db-0", reason: "Finalizer", message: "somebody's finalizer holds it" };

  test("says what blocks it, when that is something else than before", () => {
    const status = blockedBy(finalizer);
    expect(words({ metadata, status: running }, { metadata, status })).toEqual([
      "Warning DeletionBlocked: the deletion is blocked by Pod db-0 Finalizer: somebody's finalizer holds it",
    ]);
    const reworded = blockedBy({ ...finalizer, message: "for two minutes" });
    expect(words({ metadata, status }, { metadata, status: reworded })).toEqual([]);
    expect(words({ metadata, status }, { metadata, status: running })).toEqual([]);
  });

  test.each([
    ["2026-01-01T10:00:00Z", "gone 7 s after its deletion began"],
    ["2026-01-02T00:00:00Z", "expired, and gone 7 s after its deletion began"],
  ])("at %s is told when all is gone: %s", (deletionTimestamp, message) => {
    const environment: EphemeralEnvironment = environmentFixture({ metadata: { deletionTimestamp }, status: running });
    const now = new Date(Date.parse(deletionTimestamp) + 7_000);
    expect(deleted(environment, now)).toMatchObject({ type: "Normal", reason: "Deleted", message });
  });
});
