import type { ReadEvent, WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { type EventReader, ignored, pushEvent, readBy } from "../webhook-format/event.ts";
import { at, deliveryIdOf, eventNameOf, headerOf } from "../webhook-format/payload.ts";
import { pipelineEvent } from "../webhook-format/pipeline.ts";
import { tokenAuthentication } from "../webhook-format/signatures.ts";
import { mergeRequestEvent } from "./merge-request.ts";
import { isSigningToken, standardAuthentication } from "./signature.ts";

/**
 * GitLab, https://docs.gitlab.com/user/project/integrations/webhooks/. Its signing token precedes its static token,
 * which signs nothing.
 *
 * The signed `webhook-id` equals `Idempotency-Key` (17.4) and stays over retries. `X-Gitlab-Event-UUID` and
 * `X-Gitlab-Webhook-UUID` don't, and hooks that trigger each other share the first.
 */
export const gitlabWebhookFormat: WebhookFormat = {
  delivery: (webhook) => ({
    eventName: eventNameOf(headerOf(webhook, "x-gitlab-event")),
    deliveryId: deliveryIdOf(headerOf(webhook, "webhook-id") ?? headerOf(webhook, "idempotency-key")),
  }),
  authentication: (webhook, { secrets }, window) => {
    const signing = secrets.filter(isSigningToken);
    if (signing.length > 0) return standardAuthentication(webhook, signing, window);
    return tokenAuthentication(secrets, headerOf(webhook, "x-gitlab-token"));
  },
  read: ({ eventName }, payload, { now }) => readBy(READERS, eventName)(payload, now),
  repositoryField: () => "project",
  mayHideLabels: () => false,
  pullRequestRef: (number) => `refs/merge-requests/${number}/head`,
};

const READERS: ReadonlyMap<string, EventReader> = new Map<string, EventReader>([
  ["Merge Request Hook", mergeRequestEvent],
  ["Push Hook", pushOf],
  ["Pipeline Hook", pipelineEvent],
]);

/** GitLab reports pushes of tags by another event. */
function pushOf(payload: unknown): ReadEvent {
  return at(payload, "object_kind") === "push" ? pushEvent(payload) : ignored("The payload is not a push");
}
