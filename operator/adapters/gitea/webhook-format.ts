import { isJsonObject } from "../../../crds/json.ts";
import type { PullRequestAction } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ReadEvent, WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { checked, ignored, pushEvent, readBy } from "../webhook-format/event.ts";
import { at, deliveryIdOf, eventNameOf, headerOf, text } from "../webhook-format/payload.ts";
import { workflowRunEvent } from "../webhook-format/pipeline.ts";
import { isOfFork, type PullRequestFields, pullRequestEvent, pullRequestRef } from "../webhook-format/pull-request.ts";
import { hmacAuthentication, hubAuthentication } from "../webhook-format/signatures.ts";

/**
 * Gitea and Forgejo, https://docs.gitea.com/usage/webhooks. `X-Gitea-Event` names the payload's form,
 * `X-Gitea-Event-Type` the finer choice in a hook's settings, and the only header of some events in older versions. A
 * replay from its page has its own id.
 */
export const giteaWebhookFormat: WebhookFormat = {
  delivery: (webhook) => ({
    eventName: eventNameOf(webhook, "x-gitea-event", "x-gitea-event-type"),
    deliveryId: deliveryIdOf(webhook, "x-gitea-delivery"),
  }),
  authentication: (webhook, { secrets }) => {
    const signature = headerOf(webhook, "x-gitea-signature");
    if (signature !== undefined) return hmacAuthentication(secrets, signature);
    return hubAuthentication(secrets, headerOf(webhook, "x-hub-signature-256"));
  },
  read: readBy({
    pull_request: pullRequestOf,
    push: pushEvent,
    delete: deleteEvent,
    workflow_run: workflowRunEvent,
  }),
  repositoryField: () => "repository",
  // docs/adr/0193-labels-of-gitea.md
  mayHideLabels: ({ action, labels }) => action === "updated" && labels.length === 0,
  pullRequestRef,
};

function pullRequestOf(payload: unknown, now: Date): ReadEvent {
  const action = actionOf(payload);
  // The pull request still lists the cleared labels, which are all: docs/adr/0193-labels-of-gitea.md.
  const labels = action === "unlabeled" ? { labels: [] } : {};
  return pullRequestEvent(payload, { action, ...labels, ...headOf(payload) }, now);
}

/** `label_updated` does not name the labels; Gitea lacks GitHub's other actions. */
const ACTIONS: ReadonlyMap<string, PullRequestAction> = new Map([
  ["opened", "opened"],
  ["reopened", "reopened"],
  ["synchronized", "synchronize"],
  ["label_updated", "updated"],
  ["label_cleared", "unlabeled"],
  ["closed", "closed"],
] as const);

function actionOf(payload: unknown): PullRequestAction {
  const action = text(at(payload, "action"));
  return action === "edited" ? editOf(at(payload, "changes")) : (ACTIONS.get(action) ?? "other");
}

/** The base branch is `ref`. The title's prefix `WIP:` makes a draft. */
function editOf(changes: unknown): PullRequestAction {
  if (isJsonObject(at(changes, "ref"))) return "edited";
  return isJsonObject(at(changes, "title")) ? "updated" : "other";
}

/**
 * Head of a pull request. For a deleted head branch, `ref` is `refs/pull/N/head` and `label` the branch's name. An
 * empty `label` means a push to `refs/for/…` (AGit), which needs only read access, so it is trusted no more than a
 * fork.
 *
 * @param payload with `pull_request` as in Gitea's webhooks and API
 */
export function headOf(payload: unknown): Pick<PullRequestFields, "headRef" | "isFork"> {
  const [ref, label] = ["ref", "label"].map((key) => text(at(payload, "pull_request", "head", key)));
  if (!ref?.startsWith("refs/")) return { headRef: ref, isFork: isOfFork(payload) };
  return { headRef: label || ref, isFork: label === "" || isOfFork(payload) };
}

/** Gitea reports a deleted branch by its short name in this event, and by no push. */
function deleteEvent(payload: unknown): ReadEvent {
  if (at(payload, "ref_type") !== "branch") return ignored("The deleted ref is not a branch");
  return checked({ type: "push", push: { branch: at(payload, "ref"), deleted: true } });
}
