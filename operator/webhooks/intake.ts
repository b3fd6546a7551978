import { isEndOfPullRequest } from "../../crds/webhooks/webhook-delivery.ts";
import { InboxFull } from "../ports/api/webhook-inbox.ts";
import type { DeliveryClaim, WebhookDeliveries } from "../ports/webhooks/webhook-deliveries.ts";
import type { NewDelivery } from "./stored.ts";

/** Deliveries are decided within seconds, unless the API server is away. */
const FULL_RETRY_SECONDS = 10;
const SHARE = 0.1;

/** Bounded storage of deliveries. */
export interface Intake {
  /** Claims a delivery. @throws InboxFull when the limit is reached; ClusterUnavailable */
  claim(delivery: NewDelivery): Promise<DeliveryClaim>;
}

/**
 * An intake for at most `room` undecided deliveries, a tenth of them per Repository. The end of a pull request is
 * always taken: no later event would end the wait of others about it.
 *
 * @param room `webhooks.pending` of the settings
 */
export function createIntake(
  deliveries: Pick<WebhookDeliveries, "find" | "undecided" | "claim">,
  room: number,
): Intake {
  const share = Math.ceil(room * SHARE);
  /** Unanswered claims, which may soon be undecided deliveries. */
  let claiming = 0;
  const claimingOf = new Map<string, number>();

  const isFull = ({ spec }: NewDelivery) => {
    if (isEndOfPullRequest({ spec })) return false;
    if (deliveries.undecided().length + claiming >= room) return true;
    return (spec.repositories ?? []).some(
      (name) => deliveries.undecided(name).length + (claimingOf.get(name) ?? 0) >= share,
    );
  };
  const count = ({ spec: { repositories = [] } }: NewDelivery, by: 1 | -1) => {
    claiming += by;
    for (const name of new Set(repositories)) {
      const now = (claimingOf.get(name) ?? 0) + by;
      if (now === 0) claimingOf.delete(name);
      else claimingOf.set(name, now);
    }
  };

  return {
    async claim(delivery) {
      const { name, spec } = delivery;
      const known = deliveries.find(name);
      if (known !== undefined) return { state: "taken", delivery: known };
      if (isFull(delivery)) throw new InboxFull(FULL_RETRY_SECONDS);
      count(delivery, 1);
      try {
        return await deliveries.claim(name, spec);
      } finally {
        count(delivery, -1);
      }
    },
  };
}
