import { describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../../../config/settings.ts";
import { MINUTE_MS, SECOND_MS } from "../../../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { REQUESTED_ANNOTATION } from "../../../../../crds/group.ts";
import type { SleepStatus } from "../../../../../crds/sleep.schema.ts";
import { nextToWake, WakeLimiter } from "../../../../../operator/controllers/environment/wake-limiter.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { testSettings } from "../../../../support/fixtures/test-settings.ts";

const waiting = (repository: string, name: string, dueMs: number) => ({ uid: name, name, repository, dueMs });
const named = (next: ReturnType<typeof nextToWake>) => next.map(({ name }) => name);

describe("the next to wake", () => {
  const crowd = [1, 2, 3, 4].map((due) => waiting("crowd", `crowd-${due}`, due));

  test.each([
    [
      "is the one that is due for longest",
      [waiting("a", "late", 2), waiting("a", "early", 1)],
      { waking: [], places: 1 },
      ["early"],
    ],
    [
      "is of the Repository with the fewest that wake",
      [...crowd, waiting("few", "few", 9)],
      { waking: ["crowd"], places: 1 },
      ["few"],
    ],
    [
      "takes turns between Repositories",
      [...crowd, waiting("few", "few-8", 8), waiting("few", "few-9", 9)],
      { waking: [], places: 4 },
      ["crowd-1", "few-8", "crowd-2", "few-9"],
    ],
    [
      "lets those catch up that wake fewer",
      [...crowd, waiting("few", "few-8", 8), waiting("few", "few-9", 9)],
      { waking: ["crowd", "crowd"], places: 3 },
      ["few-8", "few-9", "crowd-1"],
    ],
    [
      "leaves no place free for the sake of fairness",
      crowd,
      { waking: ["crowd"], places: 9 },
      ["crowd-1", "crowd-2", "crowd-3", "crowd-4"],
    ],
    ["is none without a place", crowd, { waking: [], places: 0 }, []],
    ["is none while persons wake more than there are places", crowd, { waking: [], places: -2 }, []],
  ] as const)("%s", (_rule, those, { waking, places }, expected) => {
    expect(named(nextToWake(those, waking, places))).toEqual(expected);
  });

  test("does not starve: of a Repository that always has more, another one's comes next", () => {
    const others = Array.from({ length: 100 }, (_, due) => waiting("busy", `busy-${due}`, due));
    const own = waiting("quiet", "quiet", 1_000);
    expect(named(nextToWake([...others, own], ["busy"], 1))).toEqual(["quiet"]);
    // One of a Repository that wakes as many as another comes after all that were due before it, and before all later ones.
    const later = Array.from({ length: 100 }, (_, index) => waiting(`later-${index}`, `later-${index}`, 2_000 + index));
    expect(named(nextToWake([...later, own], [], 1))).toEqual(["quiet"]);
  });
});

const BEGIN = "2026-03-02T08:00:00.000Z";
const BEFORE = "2026-03-01T19:00:00.000Z";

interface Given {
  readonly repository?: string;
  readonly requestedAt?: string;
}

/** Environments that are asleep until 8 o'clock, which it is, with places for two. */
function scene() {
  const clock = new TestClock(BEGIN);
  const environments = new Map<string, EphemeralEnvironment>();
  const enqueued: string[] = [];
  const limiter = new WakeLimiter({
    settings: settingsFrom({ ...testSettings, reconcile: { wakesAtOnce: 2, creationDeadlineMinutes: 15 } }),
    clock,
    environment: (name) => environments.get(name),
    waking: () => [...environments.values()].filter(({ status }) => status?.sleep?.state === "waking"),
  });
  const end = limiter.watch((name) => enqueued.push(name));
  const add = (name: string, { repository = "shop", requestedAt }: Given = {}) => {
    const sleep: SleepStatus = { state: "asleep", since: BEFORE, cause: "schedule", nextAt: BEGIN };
    const environment = environmentFixture({
      metadata: {
        name,
        uid: name,
        annotations: requestedAt === undefined ? {} : { [REQUESTED_ANNOTATION]: requestedAt },
      },
      spec: { backend: { repository, branch: "main" } },
      status: { sleep },
    });
    environments.set(name, environment);
    return name;
  };
  const change = (name: string, change: Partial<EphemeralEnvironment["status"]>, spec = {}) => {
    const found = environments.get(name) as EphemeralEnvironment;
    environments.set(name, { ...found, spec: { ...found.spec, ...spec }, status: { ...found.status, ...change } });
  };
  /** Reconciles it; true when it wakes, which its status says then. */
  const reconcile = (name: string, cause: NonNullable<SleepStatus["cause"]> = "schedule", isStored = true) => {
    const found = environments.get(name) as EphemeralEnvironment;
    const sleep: SleepStatus = { state: "waking", since: clock.now().toISOString(), cause };
    const isWaking = limiter.mayFollow(found, sleep);
    if (isWaking && isStored) change(name, { sleep });
    return isWaking;
  };
  /** Reconciles what was enqueued after so long. */
  const wokenAfter = (ms: number) => {
    clock.advance(ms);
    return enqueued.splice(0).filter((name) => environments.has(name) && reconcile(name));
  };
  const stays = (name: string) => limiter.mayFollow(environments.get(name) as EphemeralEnvironment, undefined);
  const awake: SleepStatus = { state: "awake", since: BEGIN };
  return { clock, environments, add, change, reconcile, wokenAfter, stays, end, enqueued, awake };
}

describe("wakes at the begin of hours", () => {
  test("are two at a time, fairly, and the next is enqueued within a second after one is awake", () => {
    const { add, reconcile, wokenAfter, change, awake } = scene();
    for (const name of ["a", "b", "c", "d"]) expect(reconcile(add(name))).toBe(false);
    expect(reconcile(add("z", { repository: "other" }))).toBe(false);
    expect(wokenAfter(SECOND_MS)).toEqual(["a", "z"]);
    expect(wokenAfter(MINUTE_MS)).toEqual([]);
    change("a", { sleep: awake });
    expect(wokenAfter(SECOND_MS)).toEqual(["b"]);
    change("z", { sleep: awake });
    change("b", { sleep: awake });
    expect(wokenAfter(SECOND_MS)).toEqual(["c", "d"]);
  });

  test("that were let go keep their places until their status says so", () => {
    const { add, reconcile, clock, enqueued } = scene();
    for (const name of ["a", "b", "c"]) reconcile(add(name));
    clock.advance(SECOND_MS);
    expect(enqueued).toEqual(["a", "b"]);
    expect([reconcile("a", "schedule", false), reconcile("c")]).toEqual([true, false]);
    clock.advance(30 * SECOND_MS);
    expect(enqueued).toEqual(["a", "b"]);
    expect([reconcile("a"), reconcile("b"), reconcile("c")]).toEqual([true, true, false]);
  });

  test.each([
    ["fails", "Ready"],
    ["takes longer than an update may", "late"],
    ["is of an environment that a person suspends", "suspended"],
    ["is of an environment that goes away", "gone"],
  ])("one that %s leaves its place", (_rule, how) => {
    const { add, reconcile, wokenAfter, change, environments } = scene();
    for (const name of ["a", "b", "c"]) reconcile(add(name));
    expect(wokenAfter(SECOND_MS)).toEqual(["a", "b"]);
    const failed = {
      type: "Ready",
      status: "False",
      reason: "UrlDown",
      message: "",
      lastTransitionTime: BEGIN,
    } as const;
    if (how === "Ready") change("a", { conditions: [failed] });
    if (how === "suspended") change("a", {}, { suspended: true });
    if (how === "gone") environments.delete("a");
    expect(wokenAfter(how === "late" ? 15 * MINUTE_MS : SECOND_MS)).toEqual(["c"]);
  });

  test("one that was let go and never wakes leaves its place after a minute", () => {
    const { add, reconcile, clock, enqueued } = scene();
    for (const name of ["a", "b", "c"]) reconcile(add(name));
    clock.advance(MINUTE_MS);
    expect(enqueued).toEqual(["a", "b"]);
    clock.advance(SECOND_MS);
    expect(enqueued).toEqual(["a", "b", "c"]);
  });

  test("one that is no longer due waits no longer, nor holds a place", () => {
    const { add, reconcile, wokenAfter, stays, clock, enqueued } = scene();
    for (const name of ["a", "b", "c", "d"]) reconcile(add(name));
    expect(stays("a")).toBe(true);
    clock.advance(SECOND_MS);
    expect(enqueued).toEqual(["b", "c"]);
    expect(stays("b")).toBe(true);
    enqueued.length = 0;
    expect(wokenAfter(SECOND_MS)).toEqual(["d"]);
  });

  test("one that is deleted, or made anew, takes no place", () => {
    const { add, reconcile, wokenAfter, environments } = scene();
    for (const name of ["a", "b", "c"]) reconcile(add(name));
    environments.delete("a");
    const anew = environments.get("b") as EphemeralEnvironment;
    environments.set("b", { ...anew, metadata: { ...anew.metadata, uid: "anew" } });
    expect(wokenAfter(SECOND_MS)).toEqual(["c"]);
  });
});

describe("a request", () => {
  test("wakes at once where a place is free, and waits for one else", () => {
    const { add, reconcile, wokenAfter, change, awake } = scene();
    expect(["a", "b", "c"].map((name) => reconcile(add(name), "request"))).toEqual([true, true, false]);
    change("a", { sleep: awake });
    expect(wokenAfter(SECOND_MS)).toEqual(["c"]);
  });

  test("that came first is the first to wake", () => {
    const { add, reconcile, wokenAfter, change, awake } = scene();
    const requested = (second: number) => ({ requestedAt: `2026-03-02T07:59:0${second}.000Z` });
    for (const name of ["a", "b"]) reconcile(add(name), "request");
    reconcile(add("late", requested(9)), "request");
    reconcile(add("early", requested(1)), "request");
    change("a", { sleep: awake });
    expect(wokenAfter(SECOND_MS)).toEqual(["early"]);
  });

  test("comes before hours that began later, and after those that began before", () => {
    const { add, reconcile, wokenAfter, change, awake } = scene();
    for (const name of ["a", "b"]) reconcile(add(name), "request");
    reconcile(add("hours"));
    reconcile(add("before", { requestedAt: "2026-03-02T07:59:59.000Z" }), "request");
    change("a", { sleep: awake });
    expect(wokenAfter(SECOND_MS)).toEqual(["before"]);
  });
});

describe("a person's wake", () => {
  test("never waits, and counts", () => {
    const { add, reconcile, wokenAfter, change, awake } = scene();
    expect(["a", "b", "c"].map((name) => reconcile(add(name), "person"))).toEqual([true, true, true]);
    expect(reconcile(add("d"))).toBe(false);
    change("a", { sleep: awake });
    expect(wokenAfter(MINUTE_MS)).toEqual([]);
    change("b", { sleep: awake });
    expect(wokenAfter(SECOND_MS)).toEqual(["d"]);
  });

  test("ends the wait of one that waits", () => {
    const { add, reconcile, wokenAfter, change, awake } = scene();
    for (const name of ["a", "b"]) reconcile(add(name), "person");
    reconcile(add("c"));
    expect(reconcile("c", "person")).toBe(true);
    for (const name of ["a", "b", "c"]) change(name, { sleep: awake });
    expect(wokenAfter(MINUTE_MS)).toEqual([]);
  });
});

test("no timer runs while none waits, nor after the end", () => {
  const { add, reconcile, wokenAfter, clock, end } = scene();
  for (const name of ["a", "b"]) reconcile(add(name));
  expect(wokenAfter(SECOND_MS)).toEqual(["a", "b"]);
  expect(clock.pending).toEqual([]);
  reconcile(add("c"));
  expect(clock.pending).toHaveLength(1);
  end();
  expect(clock.pending).toEqual([]);
});
