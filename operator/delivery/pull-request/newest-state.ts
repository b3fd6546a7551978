import type { WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { Subject } from "../decision.ts";

/** The state of a pull request at one of its events. */
export interface KnownState {
  readonly state: PullRequestState;
  /** When it had this state: by the host's clock, else when it arrived, in milliseconds since 1970. */
  readonly atMs: number;
  /** When it arrived, by our clock. */
  readonly receivedAtMs: number;
}

/**
 * All known states of a pull request, the newest last: those of its stored deliveries and that of the event at hand, which
 * is not stored when it is only simulated. The order of arrival decides only where the host says no time.
 */
export function knownStates(
  deliveries: readonly WebhookDelivery[],
  { event, delivery }: Pick<Subject, "event" | "delivery">,
  now: Date,
): readonly KnownState[] {
  const stored = deliveries.flatMap(
    ({
      spec: {
        verified,
        event: { pullRequest },
        receivedAt,
      },
    }) => (verified && pullRequest !== undefined ? [knownState(pullRequest, Date.parse(receivedAt))] : []),
  );
  const isStored = deliveries.some(({ metadata }) => metadata.name === delivery);
  const atHand = isStored || event.pullRequest === undefined ? [] : [knownState(event.pullRequest, now.getTime())];
  return [...stored, ...atHand].sort(byAge);
}

function knownState(state: PullRequestState, receivedAtMs: number): KnownState {
  const atMs = state.updatedAt === undefined ? receivedAtMs : Date.parse(state.updatedAt);
  return { state, atMs, receivedAtMs };
}

/** Of equally old states, a closed one is the newest: hosts give whole seconds. */
function byAge(one: KnownState, other: KnownState): number {
  const isClosed = ({ state }: KnownState) => (state.state === "closed" ? 1 : 0);
  return one.atMs - other.atMs || isClosed(one) - isClosed(other) || one.receivedAtMs - other.receivedAtMs;
}
