import {
  InboxFull,
  type WebhookInbox,
  WebhookKeysMissing,
  WebhookMalformed,
  WebhookRefused,
  WebhookTooLarge,
} from "../ports/facade/webhook-inbox.ts";
import type { Metrics, WebhookOutcome } from "../ports/observability/metrics.ts";

/** Counts the outcome of each of the inbox's webhooks. */
export function countedInbox(inbox: WebhookInbox, metrics: Pick<Metrics, "webhookEnded">): WebhookInbox {
  return {
    ...inbox,
    async verify(arriving) {
      try {
        return await inbox.verify(arriving);
      } catch (error) {
        metrics.webhookEnded(arriving.source, failureOf(error));
        throw error;
      }
    },
    async accept(webhook) {
      const { source } = webhook.received;
      try {
        const outcome = await inbox.accept(webhook);
        metrics.webhookEnded(source, outcome.state);
        return outcome;
      } catch (error) {
        metrics.webhookEnded(source, failureOf(error));
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
