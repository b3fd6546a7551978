import { expect, test } from "@jest/globals";
import fc from "fast-check";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import type { WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../../../crds/webhooks/webhook-event.schema.ts";
import { commitOf, pullRequestState, shopApi, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const LABEL = "preview";
const rules = { enabled: true, skipDraft: true, requiredLabels: [LABEL] };

type Happening = Exclude<PullRequestState["action"], "opened" | "edited" | "updated" | "other">;
const HAPPENINGS: readonly Happening[] = [
  ...(["synchronize", "synchronize", "labeled", "unlabeled", "converted_to_draft"] as const),
  ...(["ready_for_review", "closed", "reopened"] as const),
];

/** The change by an event; `undefined` when it is impossible in this state. */
function changeOf(state: PullRequestState, happening: Happening): Partial<PullRequestState> | undefined {
  const { labels, draft, headCommit } = state;
  const isOpen = state.state === "open";
  const changes: Readonly<Record<Happening, Partial<PullRequestState> | false>> = {
    synchronize: isOpen && { headCommit: commitOf(headCommit.startsWith("a") ? "b" : "c") },
    labeled: !labels.includes(LABEL) && { labels: [LABEL], label: LABEL },
    unlabeled: labels.includes(LABEL) && { labels: [], label: LABEL },
    converted_to_draft: isOpen && !draft && { draft: true },
    ready_for_review: isOpen && draft && { draft: false },
    closed: isOpen && { state: "closed" },
    reopened: !isOpen && { state: "open" },
  };
  return changes[happening] || undefined;
}

function lifeOf(first: PullRequestState, order: readonly Happening[], fromMs: number): PullRequestState[] {
  const life = [{ ...first, updatedAt: new Date(fromMs).toISOString() }];
  for (const action of order) {
    const state = life.at(-1) as PullRequestState;
    const change = changeOf(state, action);
    const updatedAt = new Date(fromMs + life.length * MINUTE_MS).toISOString();
    if (change !== undefined) life.push({ ...state, ...change, action, updatedAt });
  }
  return life;
}

interface Arrival {
  readonly state: PullRequestState;
  readonly id: string;
  readonly atMs: number;
}

/** Delay of a delivery in minutes; an app's hook may report it, too, and it may be repeated. */
const lateness = fc.record({ late: fc.nat(12), lateApp: fc.option(fc.nat(12)), lateAgain: fc.option(fc.nat(12)) });
type Lateness = typeof lateness extends fc.Arbitrary<infer T> ? T : never;

function arrivalsOf(life: readonly PullRequestState[], all: readonly Lateness[]): Arrival[] {
  const arrivals = life.flatMap((state, at) => {
    const { late, lateApp, lateAgain } = all[at] as Lateness;
    const arrival = (id: string, minutes: number | null) =>
      minutes === null ? [] : [{ state, id, atMs: Date.parse(state.updatedAt ?? "") + minutes * MINUTE_MS + at }];
    return [...arrival(`${at}`, late), ...arrival(`app-${at}`, lateApp), ...arrival(`${at}`, lateAgain)];
  });
  return arrivals.sort((one, other) => one.atMs - other.atMs);
}

/** Delivers, decides and acts; a deletion takes `teardownMs`, and waiting decisions are repeated after it. */
class Run {
  readonly world = new WebhookWorld({ repositories: [shopApi({ pullRequest: rules })] });
  readonly #teardownMs: number;
  readonly #waiting = new Set<WebhookDelivery>();

  constructor(teardownMs: number) {
    this.#teardownMs = teardownMs;
  }

  async deliver(arrivals: readonly Arrival[]): Promise<void> {
    for (const { state, id, atMs } of arrivals) {
      this.world.nowMs = Math.max(this.world.nowMs, atMs);
      await this.#finishDeletions();
      await this.#settle(this.world.claim({ type: "pull_request", pullRequest: state }, id));
    }
  }

  async end(): Promise<void> {
    while (this.world.environments.size > this.world.living.length) {
      this.world.nowMs += this.#teardownMs;
      await this.#finishDeletions();
    }
    expect(this.#waiting.size).toBe(0);
  }

  async #settle(delivery: WebhookDelivery): Promise<void> {
    this.#waiting.delete(delivery);
    const { decision } = await this.world.settle(delivery);
    if (decision.do === "wait") this.#waiting.add(delivery);
  }

  async #finishDeletions(): Promise<void> {
    const deleted = [...this.world.environments.values()].map(({ metadata }) => metadata.deletionTimestamp);
    const isDue = deleted.some((at) => at !== undefined && Date.parse(at) + this.#teardownMs <= this.world.nowMs);
    if (!isDue) return;
    this.world.finishDeletions();
    for (const delivery of Array.from(this.#waiting)) await this.#settle(delivery);
  }

  get commits() {
    return this.world.living.map(({ spec }) => spec.backend.commit);
  }
}

const first = fc
  .record({ draft: fc.boolean(), labels: fc.constantFrom<string[][]>([], [LABEL]) })
  .map((start) => pullRequestState(start));
const orders = fc.shuffledSubarray([...HAPPENINGS], { minLength: HAPPENINGS.length });
const manyLate = fc.array(lateness, { minLength: HAPPENINGS.length + 1, maxLength: HAPPENINGS.length + 1 });
const teardowns = fc.constantFrom(0, 90_000, 10 * MINUTE_MS);

test("every order of a pull request's events ends in its state", async () => {
  await fc.assert(
    fc.asyncProperty(first, orders, manyLate, teardowns, async (start, order, late, teardownMs) => {
      const run = new Run(teardownMs);
      const life = lifeOf(start, order, run.world.nowMs);
      await run.deliver(arrivalsOf(life, late));
      await run.end();
      const { state, draft, labels, headCommit } = life.at(-1) as PullRequestState;
      const isIncluded = state === "open" && !draft && labels.includes(LABEL);
      expect(run.commits).toEqual(isIncluded ? [headCommit] : []);
    }),
    { numRuns: 500 },
  );
});

test("what a user deleted comes back with nothing but a new commit", async () => {
  const start = pullRequestState({ labels: [LABEL] });
  await fc.assert(
    fc.asyncProperty(orders, manyLate, fc.nat(20), teardowns, async (order, late, minutes, teardownMs) => {
      const run = new Run(teardownMs);
      const life = lifeOf(start, order, run.world.nowMs);
      const arrivals = arrivalsOf(life, late);
      const deletionMs = Math.max(...life.map(({ updatedAt }) => Date.parse(updatedAt ?? ""))) + minutes * MINUTE_MS;
      await run.deliver(arrivals.filter(({ atMs }) => atMs <= deletionMs));
      const [environment] = run.world.living;
      fc.pre(environment !== undefined);
      run.world.nowMs = deletionMs + 1_000;
      run.world.remove(environment as NonNullable<typeof environment>);
      // Times of deletions have whole seconds: an event of the same second may be the cause.
      run.world.nowMs += 1_000;

      const afterMs = deletionMs + MINUTE_MS;
      const open = {
        ...(life.at(-1) as PullRequestState),
        state: "open",
        draft: false,
        labels: [LABEL, "bug"],
      } as const;
      const noise = (["labeled", "unlabeled", "ready_for_review", "other"] as const).map((action, at) => {
        const updatedAt = new Date(afterMs + at * 1_000).toISOString();
        return {
          state: { ...open, labels: [...open.labels], action, label: "bug", updatedAt },
          id: action,
          atMs: afterMs,
        };
      });
      await run.deliver([...arrivals.filter(({ atMs }) => atMs > deletionMs), ...noise]);
      await run.end();
      expect(run.commits).toEqual([]);

      const updatedAt = new Date(afterMs + 2 * MINUTE_MS).toISOString();
      const pushed: PullRequestState = {
        ...open,
        labels: [...open.labels],
        action: "synchronize",
        headCommit: commitOf("d"),
        updatedAt,
      };
      await run.deliver([{ state: pushed, id: "pushed", atMs: run.world.nowMs + 2 * MINUTE_MS }]);
      await run.end();
      expect(run.commits).toEqual([commitOf("d")]);
    }),
    { numRuns: 100 },
  );
});
