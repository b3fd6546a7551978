import { describe, expect, test } from "@jest/globals";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../../../crds/group.ts";
import {
  isOver,
  TEARDOWN_STEPS,
  type TeardownContext,
  tearDown,
} from "../../../../../operator/environment/removal/teardown.ts";
import { KubeError } from "../../../../../operator/kit/kube-errors.ts";
import type { Blocker, Removal } from "../../../../../operator/ports/cluster.ts";
import { SecretManagerUnavailable } from "../../../../../operator/ports/secret-manager.ts";
import { environmentFixture, fixtureSettings, minutesLater } from "../../../../support/environment-fixture.ts";
import { TestClock } from "../../../../support/test-clock.ts";

const gone: Removal = { state: "gone" };
const goneAt = (minute: number, count: number) =>
  TEARDOWN_STEPS.slice(0, count).map((name) => ({
    ...{ name, state: "gone" as const, goneAt: minutesLater(minute).toISOString() },
  }));
const held = (message: string, blockers?: Blocker[]): Removal => ({
  ...{ state: "removing", message },
  ...(blockers ? { blockers } : {}),
});

interface Scene {
  readonly application?: Removal;
  readonly namespace?: Removal;
  readonly holdsAny?: boolean;
  readonly failure?: Error;
  /** Minutes since the deletion was asked for; whatever can be gone was so at once, unless `former` says otherwise. */
  readonly after?: number;
  readonly force?: string;
  readonly former?: Awaited<ReturnType<typeof tearDown>>["steps"];
}

async function scene({ application = gone, namespace = gone, holdsAny = false, failure, ...given }: Scene) {
  const former = given.former ?? (given.after === undefined ? [] : goneAt(1, 3));
  const asked: string[] = [];
  const recorded: unknown[] = [];
  const answering = (step: string, removal: Removal) => async () => {
    asked.push(step);
    return removal;
  };
  const context = {
    signal: new AbortController().signal,
    settings: fixtureSettings,
    clock: new TestClock(minutesLater(1 + (given.after ?? 0)).toISOString()),
    deployer: { remove: answering("application", application), unconfine: answering("project", gone) },
    secretManager: {
      async remove() {
        asked.push("secrets");
        if (failure) throw failure;
      },
      holdsAny: async () => holdsAny,
    },
    cluster: { remove: answering("namespace", namespace) },
    records: {
      async keep(record: unknown) {
        asked.push("record");
        recorded.push(structuredClone(record));
      },
    },
  } as unknown as TeardownContext;
  const environment = environmentFixture({
    metadata: {
      deletionTimestamp: minutesLater(1).toISOString(),
      ...(given.force === undefined ? {} : { annotations: { [FORCE_TEARDOWN_ANNOTATION]: given.force } }),
    },
    status: { teardown: { steps: [...former] } },
  });
  const record = (steps: unknown) => ({ steps }) as never;
  const teardown = await tearDown({ ...environment, record }, context);
  return { ...teardown, asked, recorded, states: teardown.steps.map(({ state }) => state) };
}

const before = (states: readonly string[]) => TEARDOWN_STEPS.slice(0, states.filter((one) => one !== "pending").length);
const hold: Blocker = { kind: "Namespace", name: "env-shop", reason: "example.test/hold", message: "a finalizer" };

describe("a teardown", () => {
  test.each<[string, Scene, string[]]>([
    ["nothing is left", {}, ["gone", "gone", "gone", "gone", "gone"]],
    ["the application is held", { application: held("a") }, ["waiting", "pending", "pending", "pending", "pending"]],
    ["a value is left", { holdsAny: true }, ["gone", "gone", "waiting", "pending", "pending"]],
    ["the namespace is held", { namespace: held("n") }, ["gone", "gone", "gone", "waiting", "pending"]],
    [
      "the secret manager is away",
      { failure: new SecretManagerUnavailable("away") },
      ["gone", "gone", "waiting", "pending", "pending"],
    ],
  ])("goes in order and no further than it may: %s", async (_what, given, states) => {
    const done = await scene(given);
    expect(done.states).toEqual(states);
    expect(done.asked).toEqual(before(states));
    expect(isOver(done)).toBe(states.at(-1) === "gone");
  });

  test("says since when a thing is verified gone, and verifies it again in every pass", async () => {
    const first = await scene({ namespace: held("n"), after: 1, former: [] });
    expect(first.steps[0]).toEqual({ name: "application", state: "gone", goneAt: minutesLater(2).toISOString() });
    const second = await scene({ namespace: held("n"), after: 2, former: first.steps });
    expect(second.steps).toEqual(first.steps);
    expect(second.asked).toContain("application");
    const back = await scene({ application: held("a"), after: 3, former: second.steps });
    expect(back.steps[0]).toEqual({ name: "application", state: "waiting", message: "a" });
  });

  test("hands a failure up and shows what it waits for, without details", async () => {
    const failure = new KubeError({ status: 500, reason: "InternalError", detail: "secret detail" });
    const { error, steps } = await scene({ failure });
    expect(error).toBe(failure);
    expect(JSON.stringify(steps)).not.toContain("secret detail");
    expect(steps[2]).toMatchObject({ state: "waiting", message: failure.message });
  });

  test.each<[string, Scene, object[]]>([
    ["nothing before the time", { namespace: held("n", [hold]), after: 4 }, []],
    ["what the port names", { namespace: held("n", [hold]), after: 5 }, [hold]],
    [
      "the step, when the port names nothing",
      { holdsAny: true, after: 5 },
      [{ kind: "secrets", name: "", reason: "Remaining", message: "the secret manager still holds entries" }],
    ],
    [
      "why it can't be asked",
      { failure: new SecretManagerUnavailable("away"), after: 5 },
      [{ kind: "secrets", name: "", reason: "SecretManagerUnavailable", message: "away" }],
    ],
    [
      "nothing when the step before took the time",
      { namespace: held("n", [hold]), after: 7, former: goneAt(4, 3) },
      [],
    ],
  ])("names as blockers: %s", async (_what, given, blockers) => {
    expect((await scene(given)).blockers).toEqual(blockers);
  });

  test("says only what the status can hold", async () => {
    const long = { kind: "Namespace", name: "env-shop", reason: `${"r".repeat(253)}/x`, message: "m".repeat(5_000) };
    const [blocker] = (await scene({ namespace: held("n", Array(20).fill(long)), after: 5 })).blockers;
    expect(blocker).toMatchObject({ reason: expect.stringMatching(/^r{127}…$/) });
    expect(blocker?.message).toHaveLength(2048);
  });
});

describe("a forced step", () => {
  const stuck = { namespace: held("n", [hold]), after: 5 };

  test.each<[string, Scene, string[]]>([
    ["is gone past when it is stuck", { ...stuck, force: "namespace" }, ["gone", "gone", "gone", "forced", "gone"]],
    [
      "is none before it is stuck",
      { ...stuck, after: 4, force: "namespace" },
      ["gone", "gone", "gone", "waiting", "pending"],
    ],
    ["is no other one", { ...stuck, force: "application" }, ["gone", "gone", "gone", "waiting", "pending"]],
    [
      "is none while one before it is waited for",
      { ...stuck, application: held("a"), force: "namespace" },
      ["waiting", "pending", "pending", "pending", "pending"],
    ],
    ["is none by an unknown name", { ...stuck, force: "everything" }, ["gone", "gone", "gone", "waiting", "pending"]],
    [
      "may be one that can't be asked",
      { failure: new SecretManagerUnavailable("away"), after: 5, force: "secrets" },
      ["gone", "gone", "forced", "gone", "gone"],
    ],
  ])("%s", async (_what, given, states) => {
    expect((await scene(given)).states).toEqual(states);
  });

  test("stays forced when another one is named, and each is waited for in its own time", async () => {
    const held60 = { application: held("a"), after: 60, force: "application", former: [] };
    const first = await scene({ ...held60, namespace: held("n") });
    expect(first.states).toEqual(["forced", "gone", "gone", "waiting", "pending"]);
    expect(first.blockers).toEqual([]);
    const later = { application: held("a"), force: "namespace", namespace: held("n"), former: first.steps };
    const second = await scene({ ...later, after: 64 });
    expect(second.states).toEqual(first.states);
    const third = await scene({ ...later, after: 65 });
    expect(third.states).toEqual(["forced", "gone", "gone", "forced", "gone"]);
    expect(third.recorded).toEqual([{ steps: third.steps.slice(0, 4) }]);
    expect(third.steps[0]).toEqual({
      ...{ name: "application", state: "forced", message: "a", goneAt: minutesLater(61).toISOString() },
    });
  });
});
