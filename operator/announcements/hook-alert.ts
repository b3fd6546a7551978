import { type Condition, clipped } from "../../crds/conditions.ts";
import { FACT_MAX_LENGTH } from "../../crds/notifications/notification.schema.ts";
import { notificationName } from "../../crds/notifications/notification.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { AnnouncerContext } from "./announcer.ts";
import { chatRecipients } from "./recipients.ts";

/** Makes the messages that a Repository's webhooks don't arrive any more, to its chat channel; see `createHookAlert`. */
export type HookAlert = (repository: Repository, now: Condition, former: Condition | undefined) => Promise<void>;

/** Messages are named by the state that they end, so that they are made once, whatever is repeated. */
export function createHookAlert(context: AnnouncerContext): HookAlert {
  return async ({ metadata }, { reason, message }, former) => {
    const about = [metadata.uid, "webhook", reason, former?.lastTransitionTime ?? "", former?.reason ?? ""];
    const facts = { event: "webhook", repository: metadata.name, reason, message: clipped(message, FACT_MAX_LENGTH) };
    for (const recipient of chatRecipients(undefined, [metadata.name], context)) {
      const at = context.clock.now().toISOString();
      const spec = { ...recipient, event: "webhook", template: "webhook", facts, at } as const;
      await context.notifications.add(notificationName(about, recipient), spec);
    }
  };
}
