import type { ReadEvent, WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { checked, ignored, pushEvent, readBy } from "../webhook-format/event.ts";
import { at, branchOfRef, deliveryIdOf, eventNameOf, headerOf } from "../webhook-format/payload.ts";
import { workflowRunEvent } from "../webhook-format/pipeline.ts";
import { actionOf, isOfFork, pullRequestEvent, pullRequestRef, testMergeOf } from "../webhook-format/pull-request.ts";
import { hubAuthentication } from "../webhook-format/signatures.ts";

/**
 * GitHub, https://docs.github.com/webhooks/webhook-events-and-payloads. The signature is over the raw bytes; the older
 * SHA-1 one, `X-Hub-Signature`, is ignored. A redelivery has the first delivery's id.
 */
export const githubWebhookFormat: WebhookFormat = {
  delivery: (webhook) => ({
    eventName: eventNameOf(webhook, "x-github-event"),
    deliveryId: deliveryIdOf(webhook, "x-github-delivery"),
  }),
  authentication: (webhook, { secrets }) => hubAuthentication(secrets, headerOf(webhook, "x-hub-signature-256")),
  read: readBy({
    pull_request: pullRequestOf,
    push: pushEvent,
    workflow_run: workflowRunEvent,
    merge_group: mergeGroupEvent,
    ping: () => checked({ type: "ping" }),
  }),
  repositoryField: () => "repository",
  mayHideLabels: () => false,
  pullRequestRef,
};

function pullRequestOf(payload: unknown, now: Date): ReadEvent {
  const facts = { action: actionOf(payload), label: at(payload, "label", "name"), isFork: isOfFork(payload) };
  return pullRequestEvent(payload, { ...facts, mergeCommit: testMergeOf(payload) }, now);
}

/** The merge queue requests checks of a commit. Its other action, `destroyed`, requests nothing. */
function mergeGroupEvent(payload: unknown): ReadEvent {
  if (at(payload, "action") !== "checks_requested") return ignored("The merge group asks for no checks");
  const group = at(payload, "merge_group");
  return checked({
    type: "merge_group",
    mergeGroup: {
      commit: at(group, "head_sha"),
      branch: branchOfRef(at(group, "head_ref")),
      baseRef: branchOfRef(at(group, "base_ref")),
    },
  });
}
