import type { AppliedState } from "../../../crds/environment/applied-state.ts";
import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { DecisionContext, Subject } from "../decision.ts";

/** The state of a pull request at one of its events. */
export interface KnownState {
  readonly state: PullRequestState;
  /** When it had this state: by the host's clock, else when it arrived, in milliseconds since 1970. */
  readonly atMs: number;
  /** When it arrived, by our clock. */
  readonly receivedAtMs: number;
  /** Whether it is no event's: the host was asked for it. */
  readonly isAsked: boolean;
  /** Whether it may have labels that it does not show: docs/adr/0193-labels-of-gitea.md. */
  readonly isUnsure: boolean;
}

/** A delivery as far as states are read of it. */
type Told = Pick<WebhookDelivery["spec"], "door" | "verified" | "event" | "receivedAt" | "host">;

/**
 * All known states of a pull request, the newest last: those of its stored deliveries and that of the event at hand, which
 * is not stored when it is only simulated. The order of arrival decides only where the host says no time.
 */
export function knownStates(
  deliveries: readonly WebhookDelivery[],
  { event, delivery, host }: Pick<Subject, "event" | "delivery" | "host">,
  { settings, clock }: Pick<DecisionContext, "settings" | "clock">,
): readonly KnownState[] {
  const isStored = deliveries.some(({ metadata }) => metadata.name === delivery);
  const atHand: Told = { door: "repohost", verified: true, event, host, receivedAt: clock.now().toISOString() };
  const told = [...deliveries.map(({ spec }) => spec), ...(isStored ? [] : [atHand])];
  const isGitea = settings.hosts.find(({ id }) => id === host)?.kind === "gitea";
  return inOrder(told.flatMap((one) => knownState(one, isGitea)));
}

function knownState({ door, verified, event: { pullRequest: state }, receivedAt }: Told, isGitea: boolean) {
  if (!verified || state === undefined) return [];
  const receivedAtMs = Date.parse(receivedAt);
  const atMs = state.updatedAt === undefined ? receivedAtMs : Date.parse(state.updatedAt);
  const isAsked = door === "inquiry";
  const isUnsure = isGitea && !isAsked && state.action === "updated" && state.labels.length === 0;
  return [{ state, atMs, receivedAtMs, isAsked, isUnsure }];
}

/**
 * The states by age, the newest last. Hosts give whole seconds. Of one second, a state that the host was asked for is newer than all that arrived
 * before it; then a closed one is the newest.
 */
export function inOrder(states: readonly KnownState[]): readonly KnownState[] {
  const lastAskedMs = askedTimes(states);
  const ranked = states.map((one) => ({ one, askedAtMs: lastAskedMs(one) }));
  ranked.sort((a, b) => a.one.atMs - b.one.atMs || a.askedAtMs - b.askedAtMs || ofOneSecond(a.one, b.one));
  return ranked.map(({ one }) => one);
}

/** When the host was last asked, until the arrival of a state, for one of the same second; 0: never. */
function askedTimes(states: readonly KnownState[]): (state: KnownState) => number {
  const asked = Map.groupBy(
    states.filter(({ isAsked }) => isAsked),
    ({ atMs }) => atMs,
  );
  const ascending = new Map(
    [...asked].map(([atMs, ones]) => [atMs, ones.map((one) => one.receivedAtMs).sort((a, b) => a - b)]),
  );
  return ({ atMs, receivedAtMs, isAsked }) => {
    // An answer is its own last one.
    const before = countBefore(ascending.get(atMs) ?? [], isAsked ? receivedAtMs + 1 : receivedAtMs);
    return ascending.get(atMs)?.[before - 1] ?? 0;
  };
}

/** How many of the ascending numbers are less than another one. */
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
  const rank = ({ isAsked, state }: KnownState) => (isAsked ? 0 : state.state === "closed" ? 2 : 1);
  return rank(one) - rank(other) || one.receivedAtMs - other.receivedAtMs;
}

/**
 * Whether the newest known state is older than one that was acted on: its delivery came again when those after it were
 * dropped. Of one second, what ended a pull request is newer than an event that shows it open.
 *
 * @param states the newest last
 */
export function isOutdated(states: readonly KnownState[], applied: readonly AppliedState[]): boolean {
  const newest = states.at(-1);
  if (newest?.state.updatedAt === undefined) return false;
  const { state, atMs, isAsked } = newest;
  return applied.some((one) => {
    const appliedMs = Date.parse(one.at);
    if (appliedMs !== atMs) return appliedMs > atMs;
    return one.state === "closed" && state.state === "open" && !isAsked;
  });
}

/**
 * The states that compete with the newest one: of its second, and not known before the host was asked.
 *
 * @param states the newest last
 */
export function rivalsOf(newest: KnownState, states: readonly KnownState[]): readonly KnownState[] {
  const lastAskedMs = askedTimes(states);
  const since = lastAskedMs(newest);
  return states.filter((one) => one !== newest && one.atMs === newest.atMs && lastAskedMs(one) === since);
}
