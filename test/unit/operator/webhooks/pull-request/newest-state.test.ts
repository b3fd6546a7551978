import { expect, test } from "@jest/globals";
import type { WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import {
  type KnownState,
  knownStates,
  sameSecondStates,
  statesByAge,
} from "../../../../../operator/webhooks/pull-request/states.ts";
import { webhookDeliveryFixture } from "../../../../support/fixtures/webhooks/webhook-fixture.ts";
import { commitOf, pullRequestState, WebhookWorld } from "../../../../support/worlds/webhook-world.ts";

const { context } = new WebhookWorld();
const updatedAt = "2026-06-01T12:00:00Z";
const AT_MS = Date.parse(updatedAt);
const noEvent = { event: { type: "other" }, delivery: undefined, host: "git" } as const;

/** A state of one second, from a webhook or the host; counts reads of its fields. */
function counted(index: number, reads: { count: number }): KnownState {
  const isRefetched = index % 2 === 1;
  return {
    state: pullRequestState({ updatedAt }),
    isRefetched,
    isUnsure: false,
    get atMs() {
      reads.count += 1;
      return AT_MS;
    },
    get receivedAtMs() {
      reads.count += 1;
      return AT_MS + index;
    },
  };
}

function readsOf(length: number, work: (states: readonly KnownState[]) => unknown): number {
  const reads = { count: 0 };
  work(Array.from({ length }, (_, index) => counted(index, reads)));
  return reads.count;
}

test.each<[string, (states: readonly KnownState[]) => unknown]>([
  ["put into order", statesByAge],
  ["searched for those of the newest one's second", (states) => sameSecondStates(states.at(-1) as KnownState, states)],
])("abuse: thousands of states of one second are %s in one pass", (_what, work) => {
  // With quadratic cost, four times as many would need sixteen times as many reads.
  expect(readsOf(4_000, work)).toBeLessThan(readsOf(1_000, work) * 4 * 2);
});

/** Deliveries of one pull request within a second, each followed by the host's answer. */
function ofOneSecond(length: number): WebhookDelivery[] {
  return Array.from({ length }, (_, index) => {
    const source = index % 2 === 1 ? "refetch" : "repohost";
    const receivedAt = new Date(AT_MS + index).toISOString();
    const pullRequest = pullRequestState({ updatedAt, headCommit: commitOf((index % 10).toString()) });
    const event = { type: "pull_request", pullRequest } as const;
    return webhookDeliveryFixture(`delivery-${index}`, { source, receivedAt, host: "git", event });
  });
}

test("of one second, the last answer of the host is the newest, then what arrived after it", () => {
  const states = knownStates(ofOneSecond(4), noEvent, context);
  expect(states.map(({ isRefetched, receivedAtMs }) => [isRefetched, receivedAtMs - AT_MS]).slice(0, 4)).toEqual([
    [false, 0],
    [true, 1],
    [false, 2],
    [true, 3],
  ]);
});
