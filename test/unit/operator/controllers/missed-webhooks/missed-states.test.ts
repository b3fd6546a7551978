import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import {
  IMPLAUSIBLE_ENDS,
  missedStates,
  type Survey,
} from "../../../../../operator/controllers/missed-webhooks/reconcile.ts";
import type { HostedPullRequest } from "../../../../../operator/ports/webhooks/pull-request-host.ts";
import type { KnownState } from "../../../../../operator/webhooks/pull-request/states.ts";
import { commitOf, pullRequestState } from "../../../../support/worlds/webhook-world.ts";

const DAY = "2026-01-02T00:00:00.000Z";
const EARLIER = "2026-01-01T00:00:00.000Z";
const LATER = "2026-01-03T00:00:00.000Z";

function answer(number: number, more: Partial<PullRequestState> = {}): HostedPullRequest {
  const { action: _action, ...state } = pullRequestState({ number, updatedAt: LATER, ...more });
  return state;
}

function knownOf(state: PullRequestState): KnownState {
  const atMs = Date.parse(state.updatedAt ?? DAY);
  return { state, atMs, receivedAtMs: atMs, isRefetched: false, isUnsure: false };
}

function missing({
  known = {},
  environments = [],
  ...more
}: Partial<Omit<Survey, "known" | "environments">> & {
  readonly known?: Readonly<Record<number, Partial<PullRequestState>>>;
  readonly environments?: readonly number[];
}) {
  const states = new Map(
    Object.entries(known).map(([number, state]) => [
      Number(number),
      knownOf(pullRequestState({ number: Number(number), updatedAt: DAY, ...state })),
    ]),
  );
  const found = missedStates({
    rules: { enabled: true, requiredLabels: ["preview"] },
    answers: [],
    createsSince: new Date(DAY),
    known: (number: number) => states.get(number),
    environments: new Set(environments),
    protectedOnes: new Set<number>(),
    ...more,
  });
  return { numbers: found.states.map(({ number }) => number), implausible: found.implausible };
}

describe("a survey finds", () => {
  const rows: readonly (readonly [string, Parameters<typeof missing>[0], readonly number[]])[] = [
    ["an open pull request that is not known", { answers: [answer(1)] }, [1]],
    ["no unknown one that did not change lately", { answers: [answer(1, { updatedAt: EARLIER })] }, []],
    ["no unknown one that is closed", { answers: [answer(1, { state: "closed" })] }, []],
    ["nothing about one that is as known", { answers: [answer(1)], known: { 1: {} }, environments: [1] }, []],
    [
      "the end of one that is known to be closed and has an environment",
      { answers: [answer(1, { state: "closed" })], known: { 1: { state: "closed" } }, environments: [1] },
      [1],
    ],
    [
      "nothing about a known end without an environment",
      { answers: [answer(1, { state: "closed" })], known: { 1: { state: "closed" } } },
      [],
    ],
    [
      "nothing about a known end whose environment stays: it is protected",
      {
        answers: [answer(1, { state: "closed" })],
        known: { 1: { state: "closed" } },
        environments: [1],
        protectedOnes: new Set([1]),
      },
      [],
    ],
    [
      "nothing about a known end that deletes no environment",
      {
        answers: [answer(1, { state: "closed" })],
        known: { 1: { state: "closed" } },
        environments: [1],
        rules: { enabled: true, deleteOn: ["merged"] },
      },
      [],
    ],
    ["no label that no rule reads", { answers: [answer(1, { labels: ["bug"] })], known: { 1: {} } }, []],
    ["a required label", { answers: [answer(1, { labels: ["preview"] })], known: { 1: {} } }, [1]],
    ["a new commit", { answers: [answer(1, { headCommit: commitOf("b") })], known: { 1: {} } }, [1]],
    ["one that is open again", { answers: [answer(1)], known: { 1: { state: "closed" } } }, [1]],
    [
      "nothing in an answer that is older than what is known",
      { answers: [answer(1, { state: "closed", updatedAt: EARLIER })], known: { 1: {} }, environments: [1] },
      [],
    ],
    [
      "the end of one that has an environment, whenever it was",
      { answers: [answer(1, { state: "closed", updatedAt: DAY })], known: { 1: {} }, environments: [1] },
      [1],
    ],
    [
      "the end of one whose deliveries are dropped",
      { answers: [answer(1, { state: "closed", updatedAt: EARLIER })], environments: [1] },
      [1],
    ],
  ];
  test.each(rows)("%s", (_title, given, numbers) => {
    expect(missing(given)).toEqual({ numbers, implausible: 0 });
  });

  test("no end that is implausible, and everything beside it", () => {
    const count = 2 * IMPLAUSIBLE_ENDS.moreThan;
    const numbers = Array.from({ length: count }, (_, index) => index + 1);
    const closed = (most: number) => numbers.slice(0, most).map((number) => answer(number, { state: "closed" }));
    const ends = IMPLAUSIBLE_ENDS.moreThan;
    expect(missing({ answers: closed(ends), environments: numbers }).numbers).toHaveLength(ends);
    const many = [...closed(ends + 1), answer(99)];
    expect(missing({ answers: many, environments: numbers })).toEqual({ numbers: [99], implausible: ends + 1 });
    const twice = [...numbers, ...numbers.map((number) => number + 100)];
    expect(missing({ answers: many, environments: twice })).toMatchObject({ implausible: 0 });
  });

  test("no end where most lost their label at once", () => {
    const numbers = Array.from({ length: 6 }, (_, index) => index + 1);
    const answers = numbers.map((number) => answer(number));
    expect(missing({ answers, environments: numbers })).toEqual({ numbers: [], implausible: 6 });
  });
});

describe("no environment ends", () => {
  const numbers = fc.uniqueArray(fc.integer({ min: 1, max: 40 }), { maxLength: 30 });

  test("by what a host does not answer", () => {
    fc.assert(
      fc.property(numbers, fc.infiniteStream(fc.boolean()), (environments, answered) => {
        const listed = environments.filter(() => answered.next().value);
        const answers = listed.map((number) => answer(number, { labels: ["preview"] }));
        const known = Object.fromEntries(environments.map((number) => [number, { labels: ["preview"] }]));
        expect(missing({ answers, known, environments }).numbers).toEqual([]);
      }),
    );
  });

  test("that a definite answer does not end, and never most of many", () => {
    const ends = fc.record({ state: fc.constantFrom("open", "closed"), labels: fc.constantFrom([], ["preview"]) });
    fc.assert(
      fc.property(numbers, fc.infiniteStream(ends), (environments, lives) => {
        const answers = environments.map((number) => answer(number, lives.next().value as Partial<PullRequestState>));
        const known = Object.fromEntries(environments.map((number) => [number, { labels: ["preview"] }]));
        const included = answers.filter(({ state, labels }) => state === "open" && labels.length > 0);
        const found = missing({ answers, known, environments }).numbers;
        expect(included.filter(({ number }) => found.includes(number))).toEqual([]);
        expect(found.length).toBeLessThanOrEqual(Math.max(IMPLAUSIBLE_ENDS.moreThan, environments.length / 2));
      }),
    );
  });
});
