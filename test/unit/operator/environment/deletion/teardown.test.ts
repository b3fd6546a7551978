import { describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../../../../crds/environment/environment-record.ts";
import type { TeardownStep } from "../../../../../crds/environment/environment-status.schema.ts";
import { FORCE_TEARDOWN_ANNOTATION } from "../../../../../crds/group.ts";
import { applicationKind, appProjectKind } from "../../../../../operator/adapters/argocd/kinds.ts";
import {
  isOver,
  TEARDOWN_STEPS,
  type Teardown,
  tearDown,
} from "../../../../../operator/environment/deletion/teardown.ts";
import { KubeError } from "../../../../../operator/kit/client/errors.ts";
import { namespaceKind } from "../../../../../operator/kit/client/kinds.ts";
import { applicationOf, memoryRemoval, namespaceOf } from "../../../../support/doubles/memory/removal.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, minutesLater, UID } from "../../../../support/fixtures/environment-fixture.ts";

const shop = { name: "shop", uid: UID };
const MINUTE_MS = 60_000;
const HOLD = "example.test/hold";
const sentence = "Namespace 'env-shop' is being deleted";
const holder = (kind = "Namespace", reason = HOLD) => ({
  ...{ kind, name: "env-shop", reason, message: "a finalizer that is not removed yet" },
});

/** What is remembered; only the steps matter here. */
const record = (steps: readonly TeardownStep[], goneAt: Date): RecordSpec => ({
  ...{ ...shop, reason: "deleted", createdAt: CREATED, deletedAt: CREATED, teardownSeconds: 0 },
  ...{ goneAt: goneAt.toISOString(), phase: "ready" },
  forced: steps
    .filter(({ state }) => state === "forced")
    .map(({ name, message = "" }) => ({ step: name, left: message })),
});

/** The objects of an environment, and reconciles of its deletion, each of which begins with the status of the last. */
async function scene() {
  const clock = new TestClock();
  const world = memoryRemoval(clock);
  await world.furnish(shop);
  let steps: readonly TeardownStep[] = [];
  let force: string | undefined;
  return {
    ...world,
    /** An admin annotates the environment. */
    force(step: string) {
      force = step;
    },
    holdNamespace: (...finalizers: string[]) => world.cluster.hold(namespaceKind, namespaceOf(shop), finalizers),
    holdApplication: (...finalizers: string[]) => world.cluster.hold(applicationKind, applicationOf(shop), finalizers),
    async pass({ after = 0 } = {}): Promise<Teardown & { states: string[] }> {
      clock.advance(after * MINUTE_MS);
      const annotations = force === undefined ? {} : { annotations: { [FORCE_TEARDOWN_ANNOTATION]: force } };
      const leaving = { metadata: { ...shop, deletionTimestamp: CREATED, ...annotations }, variables: [], record };
      const signal = new AbortController().signal;
      const teardown = await tearDown(
        { ...leaving, status: { teardown: { steps: [...steps] } } },
        { ...world, signal },
      );
      steps = teardown.steps;
      return { ...teardown, states: steps.map(({ state }) => state) };
    },
  };
}

type Scene = Awaited<ReturnType<typeof scene>>;

describe("a teardown", () => {
  test.each<[string, (world: Scene) => unknown, string[], string[]]>([
    ["nothing holds", () => undefined, ["gone", "gone", "gone", "gone", "gone"], []],
    [
      "the application is blocked",
      ({ holdApplication }) => holdApplication(HOLD),
      ["waiting", "pending", "pending", "pending", "pending"],
      ["application", "project", "secrets", "namespace"],
    ],
    [
      "the namespace is blocked",
      ({ holdNamespace }) => holdNamespace(HOLD),
      ["gone", "gone", "gone", "waiting", "pending"],
      ["namespace"],
    ],
    [
      "the secret manager is away",
      ({ secretManager }) => secretManager.setReachable(false),
      ["gone", "gone", "waiting", "pending", "pending"],
      ["secrets", "namespace"],
    ],
    [
      "the record can't be written",
      ({ records }) => records.fail(new Error("full")),
      ["gone", "gone", "gone", "gone", "waiting"],
      [],
    ],
  ])("goes in order and no further than it may: %s", async (_what, make, states, left) => {
    const world = await scene();
    make(world);
    const done = await world.pass();
    expect(done.states).toEqual(states);
    expect(isOver(done)).toBe(states.at(-1) === "gone");
    world.secretManager.setReachable(true);
    expect(await world.left(shop)).toEqual(left);
    expect(world.records.list()).toHaveLength(isOver(done) ? 1 : 0);
  });

  test("says since when a thing is gone, and since when one is waited for", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    const first = await world.pass({ after: 1 });
    expect(first.steps[0]).toEqual({ name: "application", state: "gone", goneAt: minutesLater(1).toISOString() });
    const waiting = { name: "namespace", state: "waiting", message: sentence, since: minutesLater(1).toISOString() };
    expect(first.steps[3]).toEqual(waiting);
    expect((await world.pass({ after: 1 })).steps).toEqual(first.steps);
    world.holdNamespace();
    const { steps } = await world.pass({ after: 1 });
    expect(steps[3]).toEqual({ name: "namespace", state: "gone", goneAt: minutesLater(3).toISOString() });
  });

  test("asks for nothing but what it waits for", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    await world.pass();
    const asked = () => [applicationKind, appProjectKind, namespaceKind].map((kind) => world.cluster.looks(kind));
    const before = asked();
    world.secretManager.setReachable(false);
    for (let again = 0; again < 10; again += 1) expect((await world.pass()).error).toBeUndefined();
    expect(asked()).toEqual([before[0], before[1], (before[2] ?? 0) + 10]);
  });

  test("reads everything again before the record, and removes what a late write has made since", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    await world.pass();
    world.holdNamespace();
    await world.furnish(shop);
    world.holdApplication(HOLD);
    const late = await world.pass({ after: 60 });
    expect(late.states).toEqual(["waiting", "gone", "gone", "gone", "pending"]);
    expect(late.blockers).toEqual([]);
    expect(world.records.list()).toEqual([]);
    world.holdApplication();
    expect((await world.pass()).states).toEqual(["gone", "gone", "waiting", "gone", "pending"]);
    expect(isOver(await world.pass())).toBe(true);
    expect(await world.left(shop)).toEqual([]);
    expect(world.records.list()).toHaveLength(1);
  });

  test("hands a failure up and shows what it waits for, without details", async () => {
    const world = await scene();
    const failure = new KubeError({ status: 500, reason: "InternalError", detail: "secret detail" });
    world.cluster.fail(namespaceKind, failure);
    const { error, steps } = await world.pass();
    expect(error).toBe(failure);
    expect(JSON.stringify(steps)).not.toContain("secret detail");
    expect(steps[3]).toMatchObject({ state: "waiting", message: failure.message });
  });

  test.each<[string, (world: Scene) => unknown, number, object[]]>([
    ["nothing before the time", ({ holdNamespace }) => holdNamespace(HOLD), 4, []],
    ["what the port names", ({ holdNamespace }) => holdNamespace(HOLD), 5, [holder()]],
    [
      "why it can't be asked",
      ({ secretManager }) => secretManager.setReachable(false),
      5,
      [
        {
          ...{ kind: "secrets", name: "", reason: "SecretManagerUnavailable" },
          message: "the secret manager is away",
        },
      ],
    ],
  ])("names as blockers: %s", async (_what, make, after, blockers) => {
    const world = await scene();
    make(world);
    expect((await world.pass()).blockers).toEqual([]);
    expect((await world.pass({ after })).blockers).toEqual(blockers);
  });

  test("says in the same words that something is waited for, whatever holds it, until it is stuck", async () => {
    const world = await scene();
    world.holdNamespace(HOLD, "example.test/other");
    const { steps } = await world.pass();
    expect(steps[3]).toMatchObject({ message: sentence });
    world.holdNamespace(HOLD);
    expect((await world.pass({ after: 4 })).steps).toEqual(steps);
    const message = `${sentence}, blocked by ${HOLD}: a finalizer that is not removed yet`;
    expect((await world.pass({ after: 1 })).steps[3]).toMatchObject({ message });
  });

  test("is not blind after the clock was set back: what seems to begin in the future began that long ago", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    await world.pass();
    world.clock.setBack(60 * MINUTE_MS);
    expect((await world.pass()).blockers).toEqual([holder()]);
  });

  test("does not call stuck what fails once after a long wait for something else", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    world.force("secrets");
    await world.pass();
    await world.pass({ after: 60 });
    world.holdNamespace();
    world.secretManager.setReachable(false);
    const blip = await world.pass({ after: 1 });
    expect(blip.states).toEqual(["gone", "gone", "waiting", "gone", "pending"]);
    expect(blip.blockers).toEqual([]);
    world.secretManager.setReachable(true);
    expect((await world.pass()).states).toEqual(Array(5).fill("gone"));
  });

  test("says only what the status can hold", async () => {
    const world = await scene();
    world.holdNamespace(...Array.from({ length: 20 }, (_, at) => `${"r".repeat(253)}/${at}`));
    await world.pass();
    const { blockers, steps } = await world.pass({ after: 5 });
    expect(blockers).toHaveLength(16);
    expect(blockers[0]).toMatchObject({ reason: expect.stringMatching(/^r{127}…$/) });
    expect(steps[3]?.message).toHaveLength(2048);
  });
});

describe("a forced step", () => {
  const wait = ["gone", "gone", "gone", "waiting", "pending"];

  test.each<{ name: string; force: string; after: number; make?: (world: Scene) => unknown; states: string[] }>([
    {
      name: "is gone past when it is stuck",
      ...{ force: "namespace", after: 5, states: ["gone", "gone", "gone", "forced", "gone"] },
    },
    { name: "is none before it is stuck", ...{ force: "namespace", after: 4, states: wait } },
    { name: "is no other one", ...{ force: "application", after: 5, states: wait } },
    { name: "is none by an unknown name", ...{ force: "everything", after: 5, states: wait } },
    {
      name: "is none while one before it is waited for",
      make: ({ holdApplication }) => holdApplication(HOLD),
      ...{ force: "namespace", after: 5, states: ["waiting", "pending", "pending", "pending", "pending"] },
    },
    {
      name: "may be one that can't be asked",
      make: ({ secretManager, holdNamespace }) => [secretManager.setReachable(false), holdNamespace()],
      ...{ force: "secrets", after: 5, states: ["gone", "gone", "forced", "gone", "gone"] },
    },
  ])("$name", async ({ force, after, make, states }) => {
    const world = await scene();
    world.holdNamespace(HOLD);
    make?.(world);
    world.force(force);
    await world.pass();
    expect((await world.pass({ after })).states).toEqual(states);
  });

  test("stays forced when another one is named, and each is waited for in its own time", async () => {
    const world = await scene();
    world.holdApplication(HOLD);
    world.holdNamespace(HOLD);
    world.force("application");
    await world.pass();
    const first = await world.pass({ after: 60 });
    expect(first.states).toEqual(["forced", "gone", "gone", "waiting", "pending"]);
    expect(first.blockers).toEqual([]);
    world.force("namespace");
    expect((await world.pass({ after: 4 })).states).toEqual(first.states);
    const last = await world.pass({ after: 1 });
    expect(last.states).toEqual(["forced", "gone", "gone", "forced", "gone"]);
    const left = (kind: string) =>
      `${kind} 'env-shop' is being deleted, blocked by ${HOLD}: a finalizer that is not removed yet`;
    const forced = [
      { step: "application", left: left("Application") },
      { step: "namespace", left: left("Namespace") },
    ];
    expect(world.records.list()).toMatchObject([{ forced }]);
    expect(await world.left(shop)).toEqual(["application", "namespace"]);
    expect(last.steps[0]).toEqual({
      ...{ name: "application", state: "forced", message: left("Application"), goneAt: minutesLater(60).toISOString() },
    });
  });

  test("stays forced although the record takes several reconciles", async () => {
    const world = await scene();
    world.holdNamespace(HOLD);
    world.records.fail(new Error("full"));
    world.force("namespace");
    await world.pass();
    expect((await world.pass({ after: 5 })).states.slice(3)).toEqual(["forced", "waiting"]);
    world.records.fail(undefined);
    expect((await world.pass()).states.slice(3)).toEqual(["forced", "gone"]);
  });
});

test("the steps that may be named", () => {
  expect(TEARDOWN_STEPS).toEqual(["application", "project", "secrets", "namespace", "record"]);
});
