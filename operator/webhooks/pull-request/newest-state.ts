import type { AppliedState } from "../../../crds/environment/applied-state.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, RepositoryEvent } from "../decision.ts";
import { formatOf } from "../formats.ts";

/** State of a pull request at one of its events. */
export interface KnownState {
  readonly state: PullRequestState;
  /** Time of the state: by the host's clock, else its arrival, in milliseconds since 1970. */
  readonly atMs: number;
  /** Arrival, by our clock. */
  readonly receivedAtMs: number;
  /** True when it was fetched from the host. */
  readonly isRefetched: boolean;
  /** True when the pull request may have labels that the state does not show; see `WebhookFormat.mayHideLabels`. */
  readonly isUnsure: boolean;
}

type StateEvent = Pick<WebhookDelivery["spec"], "source" | "verified" | "event" | "receivedAt">;
type StateContext = Pick<DecisionContext, "settings" | "formats" | "clock">;

/**
 * All known states of a pull request, newest last, with the state of the current event, stored or not. The order of
 * arrival decides only without the host's times.
 */
export function knownStates(
  deliveries: readonly WebhookDelivery[],
  { event, delivery, host }: Pick<RepositoryEvent, "event" | "delivery" | "host">,
  context: StateContext,
): readonly KnownState[] {
  if (deliveries.some(({ metadata }) => metadata.name === delivery)) return storedStates(deliveries, host, context);
  const receivedAt = context.clock.now().toISOString();
  const current: StateEvent = { source: "repohost", verified: true, event, receivedAt };
  return statesOf([...deliveries.map(({ spec }) => spec), current], host, context);
}

/** Like `knownStates`, without a current event. */
export function storedStates(
  deliveries: readonly WebhookDelivery[],
  host: string,
  context: StateContext,
): readonly KnownState[] {
  const events = deliveries.map(({ spec }) => spec);
  return statesOf(events, host, context);
}

function statesOf(events: readonly StateEvent[], host: string, context: StateContext): readonly KnownState[] {
  const format = formatOf({ host }, context);
  const states = events.flatMap(({ source, verified, event: { pullRequest: state }, receivedAt }) => {
    if (!verified || state === undefined) return [];
    const receivedAtMs = Date.parse(receivedAt);
    const atMs = state.updatedAt === undefined ? receivedAtMs : Date.parse(state.updatedAt);
    const isRefetched = source === "refetch";
    return [{ state, atMs, receivedAtMs, isRefetched, isUnsure: !isRefetched && format.mayHideLabels(state) }];
  });
  return inOrder(states);
}

/**
 * States by age, newest last. Hosts give whole seconds. Within one, a fetched state is newer than earlier arrivals;
 * then a closed one is newest.
 */
export function inOrder(states: readonly KnownState[]): readonly KnownState[] {
  const lastRefetchMs = refetchTimes(states);
  const ranked = states.map((one) => ({ one, refetchedAtMs: lastRefetchMs(one) }));
  ranked.sort((a, b) => a.one.atMs - b.one.atMs || a.refetchedAtMs - b.refetchedAtMs || ofOneSecond(a.one, b.one));
  return ranked.map(({ one }) => one);
}

/** Last fetch within a state's second, before its arrival; 0 without one. */
function refetchTimes(states: readonly KnownState[]): (state: KnownState) => number {
  const refetched = Map.groupBy(
    states.filter(({ isRefetched }) => isRefetched),
    ({ atMs }) => atMs,
  );
  const ascending = new Map(
    [...refetched].map(([atMs, ones]) => [atMs, ones.map((one) => one.receivedAtMs).sort((a, b) => a - b)]),
  );
  return ({ atMs, receivedAtMs, isRefetched }) => {
    // A fetched state is its own last one.
    const before = countBefore(ascending.get(atMs) ?? [], isRefetched ? receivedAtMs + 1 : receivedAtMs);
    return ascending.get(atMs)?.[before - 1] ?? 0;
  };
}

function countBefore(ascending: readonly number[], limit: number): number {
  let [from, to] = [0, ascending.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((ascending[middle] as number) < limit) from = middle + 1;
    else to = middle;
  }
  return from;
}

function ofOneSecond(one: KnownState, other: KnownState): number {
  const rank = ({ isRefetched, state }: KnownState) => (isRefetched ? 0 : state.state === "closed" ? 2 : 1);
  return rank(one) - rank(other) || one.receivedAtMs - other.receivedAtMs;
}

/**
 * True when the newest known state is older than an applied one, because later deliveries were dropped. Within one
 * second, the end of a pull request is newer than an event that shows it open.
 *
 * @param states newest last
 */
export function isOutdated(states: readonly KnownState[], applied: readonly AppliedState[]): boolean {
  const newest = states.at(-1);
  if (newest?.state.updatedAt === undefined) return false;
  const { state, atMs, isRefetched } = newest;
  return applied.some((one) => {
    const appliedMs = Date.parse(one.at);
    if (appliedMs !== atMs) return appliedMs > atMs;
    return one.state === "closed" && state.state === "open" && !isRefetched;
  });
}

/** States of the newest one's second, without those known before the last fetch. @param states newest last */
export function sameSecondStates(newest: KnownState, states: readonly KnownState[]): readonly KnownState[] {
  const lastRefetchMs = refetchTimes(states);
  const since = lastRefetchMs(newest);
  return states.filter((one) => one !== newest && one.atMs === newest.atMs && lastRefetchMs(one) === since);
}
