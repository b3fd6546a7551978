import {
  InboxFull,
  type WebhookInbox,
  WebhookKeysMissing,
  WebhookMalformed,
  WebhookRefused,
  WebhookTooLarge,
} from "../ports/facade/webhook-inbox.ts";
import type { Metrics, WebhookOutcome } from "../ports/observability/metrics.ts";

/** The same inbox; how each webhook of a host ends is counted. */
export function countedInbox(inbox: WebhookInbox, metrics: Pick<Metrics, "webhookEnded">): WebhookInbox {
  return {
    ...inbox,
    async verify(arriving) {
      try {
        return await inbox.verify(arriving);
      } catch (error) {
        metrics.webhookEnded(arriving.door, failureOf(error));
        throw error;
      }
    },
    async accept(webhook) {
      const { door } = webhook.received;
      try {
        const outcome = await inbox.accept(webhook);
        metrics.webhookEnded(door, outcome.state);
        return outcome;
      } catch (error) {
        metrics.webhookEnded(door, failureOf(error));
        throw error;
      }
    },
  };
}

function failureOf(error: unknown): WebhookOutcome {
  if (error instanceof WebhookRefused || error instanceof WebhookTooLarge) return "refused";
  if (error instanceof WebhookMalformed) return "malformed";
  if (error instanceof WebhookKeysMissing) return "no_key";
  return error instanceof InboxFull ? "full" : "failed";
}
