import { describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../../../crds/conditions.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../../../../crds/group.ts";
import { deleted, eventsOf } from "../../../../../operator/controllers/environment/events.ts";
import {
  CREATED,
  commitA,
  environmentFixture,
  minutesLater,
} from "../../../../support/fixtures/environment/environment-fixture.ts";

const commitB = "b".repeat(40);
const at = (minutes: number) => minutesLater(minutes).toISOString();
const condition = (type: string, status: Condition["status"], reason: string, message = ""): Condition =>
  ({ type, status, reason, message, lastTransitionTime: CREATED, observedGeneration: 1 }) as Condition;
const open = condition("Ready", "Unknown", "Syncing");
const ready = condition("Ready", "True", "Ready");
const failure = (reason: string, message = "it fails") => condition("Ready", "False", reason, message);
const suspended = condition("Suspended", "True", "Suspended");
const atRest = condition("Asleep", "True", "Asleep");
const refused = condition("ExpiryRefused", "True", "ExpiryRefused", "a policy refuses it");

const seen = { observedGeneration: 1, ttlHours: 24, expiresAt: at(24 * 60) };
const rollout = { since: CREATED, specHash: "one" };
const creating: EnvironmentStatus = { ...seen, conditions: [open], rollout };
const serving: EnvironmentStatus = {
  ...seen,
  conditions: [ready],
  readyAt: at(1.5),
  servingHash: "hash",
  desiredHash: "hash",
  components: { backend: { commit: commitA } },
};
const updating = { ...serving, conditions: [open], rollout: { ...rollout, specHash: "two" } };
const wakingBySchedule = { state: "waking", since: "2026-01-01T00:00:00Z", cause: "schedule" } as const;
const asleep: EnvironmentStatus = { ...serving, conditions: [ready, suspended], servingHash: "" };
const schedule = { timeZone: "UTC", awake: ["Mon 08:00-09:00"] };
/** Asleep by a schedule, with pods that are not gone yet. */
const dozing: EnvironmentStatus = {
  ...updating,
  sleep: { state: "asleep", since: at(90), cause: "schedule", schedule },
};
const extended = { ...serving, observedGeneration: 2, ttlHours: 48, expiresAt: at(48 * 60) };

interface Change {
  readonly before?: EnvironmentStatus | undefined;
  readonly after: EnvironmentStatus;
  readonly spec?: Partial<EnvironmentSpec>;
  readonly generation?: number;
  readonly auditId?: string;
  readonly writers?: readonly string[];
}

/** Published events, as `reason: message`. */
function published({ before, after, spec = {}, generation = 1, auditId, writers = [] }: Change): string[] {
  const annotations = auditId === undefined ? {} : { [AUDIT_ID_ANNOTATION]: auditId };
  const parts = { spec, metadata: { generation, annotations } };
  const change = {
    before: environmentFixture({ ...parts, ...(before === undefined ? {} : { status: before }) }),
    after: environmentFixture({ ...parts, status: after }),
    writers,
  };
  return eventsOf(change).map(({ reason, message }) => `${reason}: ${message}`);
}

describe("what is published of a creation", () => {
  test.each<[string, Change, string]>([
    ["by kubectl", { after: creating, writers: ["kubectl-create"] }, "by kubectl-create"],
    ["by the REST interface", { after: creating, spec: { trigger: { kind: "api" } } }, "through the REST interface"],
    [
      "by a pull request",
      { after: creating, spec: { trigger: { kind: "pull_request", repository: "shop-api", number: 7 } } },
      "for pull request 7 of Repository shop-api",
    ],
    [
      "by a pipeline",
      { after: creating, spec: { trigger: { kind: "pipeline", repository: "shop-api" } } },
      "for a pipeline of Repository shop-api",
    ],
    ["from Git", { after: creating, writers: ["argocd-controller"] }, "by argocd-controller"],
  ])("%s", (_what, change, expected) => {
    expect(published(change)).toEqual([`Created: made ${expected}`]);
  });

  test("that fails at once is the failure, too", () => {
    const after = { ...creating, conditions: [failure("RepositoryNotFound")] };
    expect(published({ after, writers: ["kubectl"] })).toEqual([
      "Created: made by kubectl",
      "Failed: RepositoryNotFound: it fails",
    ]);
  });
});

describe("what is published of a living environment", () => {
  test.each<[string, Change, readonly string[]]>([
    ["ready at last", { before: creating, after: serving }, ["Ready: ready 90 s after its creation"]],
    ["progress", { before: creating, after: { ...creating, desiredHash: "hash" } }, []],
    ["nothing", { before: serving, after: serving }, []],
    [
      "an update to another commit",
      { before: serving, after: updating, spec: { backend: { repository: "a", branch: "b", commit: commitB } } },
      ["UpdateStarted: update to backend at bbbbbbbb; what runs stays until that is ready"],
    ],
    [
      "an update to other settings",
      { before: serving, after: updating },
      ["UpdateStarted: update to other settings; what runs stays until that is ready"],
    ],
    [
      "another update before the first is over",
      { before: updating, after: { ...updating, rollout: { ...rollout, specHash: "three" } } },
      ["UpdateStarted: update to other settings; what runs stays until that is ready"],
    ],
    ["an update on its way", { before: updating, after: { ...updating, desiredHash: "other" } }, []],
    [
      "an update that is over",
      { before: updating, after: { ...serving, servingHash: "other" } },
      ["Updated: updated: what the spec asks for runs, and all URLs answer"],
    ],
    [
      "an update that was over before it was stored",
      { before: serving, after: { ...serving, servingHash: "other" } },
      ["Updated: updated: what the spec asks for runs, and all URLs answer"],
    ],
    [
      "a failure, without what its containers wrote",
      {
        before: creating,
        after: { ...creating, conditions: [failure("CrashLoop", "it ends\nLast output of backend:")] },
      },
      ["Failed: CrashLoop: it ends"],
    ],
    [
      "the same failure in other words",
      {
        before: { ...creating, conditions: [failure("CrashLoop", "3 times")] },
        after: { ...creating, conditions: [failure("CrashLoop", "4 times")] },
      },
      [],
    ],
    [
      "another failure",
      {
        before: { ...creating, conditions: [failure("CrashLoop")] },
        after: { ...creating, conditions: [failure("ImagePullFailed")] },
      },
      ["Failed: ImagePullFailed: it fails"],
    ],
    [
      "the end of a failure",
      { before: { ...serving, conditions: [failure("UrlDown")] }, after: serving },
      ["Ready: ready again"],
    ],
    [
      "falling asleep",
      { before: updating, after: asleep, spec: { suspended: true } },
      ["Asleep: asleep: scaled to zero; secrets and data stay"],
    ],
    [
      "falling asleep by a schedule",
      { before: dozing, after: { ...dozing, conditions: [ready, atRest], servingHash: "" } },
      ["Asleep: asleep by its schedule: scaled to zero; secrets and data stay"],
    ],
    ["the end of the hours", { before: serving, after: dozing }, []],
    ["asked to sleep", { before: serving, after: updating, spec: { suspended: true } }, []],
    [
      "an update while asleep",
      { before: { ...asleep, conditions: [open, suspended], rollout }, after: asleep, spec: { suspended: true } },
      ["Updated: updated while asleep"],
    ],
    ["asked to wake", { before: asleep, after: { ...asleep, conditions: [open], rollout } }, []],
    [
      "awake",
      { before: { ...asleep, conditions: [open], rollout }, after: serving },
      ["Awake: awake: all URLs answer again"],
    ],
    [
      "awake by a request",
      {
        before: { ...asleep, conditions: [open], rollout },
        after: { ...serving, sleep: { state: "waking", since: "2026-01-01T00:00:00Z", cause: "request" } },
      },
      ["Awake: awake: all URLs answer again; a request woke it"],
    ],
    [
      "awake by its hours, whose URLs answered before the deployer said that it runs",
      {
        before: { ...updating, servingHash: "other" },
        after: { ...serving, sleep: { ...wakingBySchedule, schedule: { timeZone: "UTC", awake: [] } } },
      },
      ["Awake: awake: all URLs answer again; its hours woke it"],
    ],
    [
      "awake because nothing lets it sleep any more",
      {
        before: { ...asleep, conditions: [open], rollout },
        after: { ...serving, sleep: wakingBySchedule },
      },
      ["Awake: awake: all URLs answer again; it no longer sleeps"],
    ],
    [
      "an expiry that is refused",
      { before: serving, after: { ...serving, conditions: [ready, refused] } },
      ["ExpiryRefused: a policy refuses it"],
    ],
    [
      "an expiry that is still refused",
      { before: { ...serving, conditions: [ready, refused] }, after: { ...serving, conditions: [ready, refused] } },
      [],
    ],
  ])("%s", (_what, change, expected) => {
    expect(published(change)).toEqual(expected);
  });
});

describe("what is published of an extension", () => {
  const change: Change = { before: serving, after: extended, spec: { ttlHours: 48 }, generation: 2 };
  const said = `Extended: extended from 24 to 48 hours, until ${at(48 * 60)}`;

  test.each<[string, Partial<Change>, string]>([
    ["kubectl", { writers: ["kubectl-edit"] }, "by kubectl-edit"],
    [
      "the REST interface, in the same second",
      { auditId: "0198", writers: ["kubectl-edit"] },
      "through the REST interface (audit record 0198)",
    ],
    [
      "the REST interface, of which an older record is known",
      { auditId: "0198", before: { ...serving, observedAuditId: "0198" } },
      "through the REST interface",
    ],
  ])("by %s", (_who, more, by) => {
    expect(published({ ...change, ...more })).toEqual([`${said}, ${by}`]);
  });

  test("is nothing where the TTL is lowered, or where the config set gave it", () => {
    expect(published({ ...change, before: { ...serving, ttlHours: 72 } })).toEqual([]);
    expect(published({ ...change, generation: 1 })).toEqual([]);
  });
});

describe("what is published of a deletion", () => {
  const leaving = (blockers: { kind: string; name: string; reason: string; message: string }[]) =>
    environmentFixture({
      metadata: { deletionTimestamp: at(10) },
      status: { ...serving, conditions: [failure("Terminating")], teardown: { steps: [], blockers } },
    });
  const pod = { kind: "Pod", name: "backend", reason: "example.test/hold", message: "a finalizer" };
  const volume = { ...pod, kind: "Volume", name: "data" };

  test("is what blocks it, whenever that is something else", () => {
    const of = (before: (typeof pod)[], after: (typeof pod)[]) =>
      eventsOf({ before: leaving(before), after: leaving(after), writers: [] }).map(({ message }) => message);
    expect(of([], [pod])).toEqual(["the deletion is blocked by Pod backend example.test/hold: a finalizer"]);
    expect(of([pod], [{ ...pod, message: "in other words" }])).toEqual([]);
    expect(of([pod], [pod, volume])).toHaveLength(1);
    expect(of([pod, volume], [pod])).toEqual([]);
    expect(of([pod], [])).toEqual([]);
  });

  test.each([
    [10, "gone 60 s after its deletion began"],
    [24 * 60, "expired, and gone 60 s after its deletion began"],
  ])("requested after %s minutes is its end", (minutes, message) => {
    const environment = environmentFixture({ metadata: { deletionTimestamp: at(minutes) }, status: serving });
    expect(deleted(environment, minutesLater(minutes + 1))).toMatchObject({
      type: "Normal",
      reason: "Deleted",
      message,
    });
  });
});
