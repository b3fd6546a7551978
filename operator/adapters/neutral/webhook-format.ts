import type { PullRequestAction } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ReadEvent, ReceivedWebhook, WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { checked, pushEvent, readBy } from "../webhook-format/event.ts";
import { at, deliveryIdOf, eventNameOf, headerOf, text } from "../webhook-format/payload.ts";
import { pipelineEvent, workflowRunEvent } from "../webhook-format/pipeline.ts";
import { actionOf, isOfFork, pullRequestEvent, pullRequestRef } from "../webhook-format/pull-request.ts";
import { hubAuthentication, tokenAuthentication } from "../webhook-format/signatures.ts";

/** Event of the contract's pipeline endpoint, which has no header for its name. */
const PIPELINE = "pipeline";

/**
 * The contract's own headers and bodies, for Repositories without a host: signed at the repository endpoint, with a
 * token at the pipeline endpoint. Bodies are GitHub's and GitLab's, with fewer fields.
 */
export const neutralWebhookFormat: WebhookFormat = {
  delivery: (webhook) => ({
    eventName: isPipeline(webhook) ? PIPELINE : eventNameOf(webhook, "x-repohost-event"),
    deliveryId: deliveryIdOf(webhook, "x-repohost-delivery"),
  }),
  authentication: (webhook, { secrets, pipelineTokens }) =>
    isPipeline(webhook)
      ? tokenAuthentication(pipelineTokens, headerOf(webhook, "x-pipeline-token"))
      : hubAuthentication(secrets, headerOf(webhook, "x-hub-signature-256")),
  read: readBy({
    pull_request: pullRequestOf,
    push: pushEvent,
    workflow_run: workflowRunEvent,
    [PIPELINE]: pipelineEvent,
    ping: () => checked({ type: "ping" }),
  }),
  repositoryField: (webhook) => (isPipeline(webhook) ? "project" : "repository"),
  mayHideLabels: () => false,
  pullRequestRef,
};

const isPipeline = ({ source }: Pick<ReceivedWebhook, "source">): boolean => source === "pipelinehost";

const ACTIONS: ReadonlyMap<string, PullRequestAction> = new Map([
  ["synchronized", "synchronize"],
  ["merged", "closed"],
] as const);

/** The contract also has "synchronized" and "merged" pull requests, and names no repository of the head. */
function pullRequestOf(payload: unknown, now: Date): ReadEvent {
  const pull = at(payload, "pull_request");
  const said = text(at(payload, "action"));
  const facts = {
    action: ACTIONS.get(said) ?? actionOf(payload),
    merged: said === "merged" || at(pull, "state") === "merged" || at(pull, "merged") === true,
    isFork: at(pull, "head", "repo") !== undefined && isOfFork(payload),
    label: at(payload, "label", "name"),
  };
  return pullRequestEvent(payload, facts, now);
}
