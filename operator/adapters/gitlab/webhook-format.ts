import type { ReadEvent, WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { ignored, pushEvent, readBy } from "../webhook-format/event.ts";
import { at, deliveryIdOf, eventNameOf } from "../webhook-format/payload.ts";
import { pipelineEvent } from "../webhook-format/pipeline.ts";
import { mergeRequestEvent } from "./merge-request.ts";
import { gitlabAuthentication } from "./signature.ts";

/**
 * GitLab, https://docs.gitlab.com/user/project/integrations/webhooks/.
 *
 * The signed `webhook-id` equals `Idempotency-Key` (17.4) and stays over retries. `X-Gitlab-Event-UUID` and
 * `X-Gitlab-Webhook-UUID` don't, and hooks that trigger each other share the first.
 */
export const gitlabWebhookFormat: WebhookFormat = {
  delivery: (webhook) => ({
    eventName: eventNameOf(webhook, "x-gitlab-event"),
    deliveryId: deliveryIdOf(webhook, "webhook-id", "idempotency-key"),
  }),
  authentication: gitlabAuthentication,
  read: readBy({
    "Merge Request Hook": mergeRequestEvent,
    "Push Hook": pushOf,
    "Pipeline Hook": pipelineEvent,
  }),
  repositoryField: () => "project",
  mayHideLabels: () => false,
  pullRequestRef: (number) => `refs/merge-requests/${number}/head`,
};

/** GitLab reports pushes of tags by another event. */
function pushOf(payload: unknown): ReadEvent {
  return at(payload, "object_kind") === "push" ? pushEvent(payload) : ignored("The payload is not a push");
}
