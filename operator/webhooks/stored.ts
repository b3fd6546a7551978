import { createHash } from "node:crypto";
import type { Repository } from "../../crds/repository/repository.ts";
import {
  deliveryName,
  meaningOf,
  pullRequestsOf,
  type WebhookDelivery,
  type WebhookDeliverySpec,
  type WebhookDeliveryStatus,
} from "../../crds/webhooks/webhook-delivery.ts";
import { MOST_LABELS, type PullRequestState, type WebhookEvent } from "../../crds/webhooks/webhook-event.schema.ts";
import type { Approval, Outcome, VerifiedWebhook } from "../ports/facade/webhook-inbox.ts";

/** A delivery that is to be stored. */
export interface NewDelivery {
  readonly name: string;
  readonly spec: WebhookDeliverySpec;
}

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** What is stored of a webhook: extracted fields only. */
export function deliveryOf(webhook: VerifiedWebhook, now: Date): NewDelivery {
  const { received, delivery, digest, host, sender, repositories } = webhook;
  const event = withRequiredLabels(webhook.event, repositories);
  const identity = {
    door: received.door,
    digest,
    ...(host === undefined ? {} : { host }),
    ...(delivery.deliveryId === undefined ? {} : { deliveryId: delivery.deliveryId }),
  };
  const meaning = meaningParts(event);
  return {
    name: deliveryName({ ...identity, sender }),
    spec: {
      ...identity,
      eventName: delivery.eventName,
      ...(meaning === undefined ? {} : { meaning: meaningOf([host, sender, ...meaning]) }),
      verified: true,
      receivedAt: now.toISOString(),
      ...(webhook.hostRepository === undefined ? {} : { hostRepository: webhook.hostRepository }),
      repositories: repositories.slice(0, MOST_REPOSITORIES).map(({ metadata }) => metadata.name),
      event,
    },
  };
}

const MOST_REPOSITORIES = 10;

/** What is stored of an approval: one for each commit of a pull request, also when two maintainers approve it. */
export function approvalOf({ repository, number, commit, by }: Approval, now: Date): NewDelivery {
  const { metadata, spec } = repository;
  const identity = {
    door: "approval",
    digest: sha256(`${metadata.name}/${number}/${commit}`),
    ...(spec.host === undefined ? {} : { host: spec.host }),
    deliveryId: `${number}/${commit}`,
  } as const;
  return {
    name: deliveryName({ ...identity, sender: metadata.name }),
    spec: {
      ...identity,
      eventName: "approval",
      verified: true,
      receivedAt: now.toISOString(),
      repositories: [metadata.name],
      event: { type: "approval", approval: { number, commit, by } },
    },
  };
}

/** The state of a pull request that its host was asked for. */
interface Inquiry {
  readonly repository: Repository;
  readonly state: PullRequestState;
  /** Why it was asked: there is one answer for each cause and state. At most 128 characters. */
  readonly cause: string;
}

/** What is stored of a state that a host was asked for. */
export function inquiryOf({ repository, state, cause }: Inquiry, now: Date): NewDelivery {
  const { metadata, spec } = repository;
  const identity = {
    door: "inquiry",
    digest: sha256(JSON.stringify(state)),
    ...(spec.host === undefined ? {} : { host: spec.host }),
    deliveryId: cause,
  } as const;
  return {
    name: deliveryName({ ...identity, sender: metadata.name }),
    spec: {
      ...identity,
      eventName: "inquiry",
      verified: true,
      receivedAt: now.toISOString(),
      repositories: [metadata.name],
      event: withRequiredLabels({ type: "pull_request", pullRequest: state }, [repository]),
    },
  };
}

/** Only so many labels are stored: those first that a Repository requires. */
function withRequiredLabels(event: WebhookEvent, repositories: readonly Repository[]): WebhookEvent {
  if (event.pullRequest === undefined) return event;
  const required = new Set(repositories.flatMap(({ spec }) => spec.pullRequest?.requiredLabels ?? []));
  const labels = [...new Set(event.pullRequest.labels)];
  const first = labels.filter((label) => required.has(label));
  const others = labels.filter((label) => !required.has(label));
  return { ...event, pullRequest: { ...event.pullRequest, labels: [...first, ...others].slice(0, MOST_LABELS) } };
}

/** What makes two deliveries the same event, by its type; `undefined` where nothing does. */
function meaningParts({ type, pullRequest, pipeline }: WebhookEvent) {
  if (pullRequest !== undefined) {
    const { number, action, headCommit, updatedAt } = pullRequest;
    return [type, number, action, headCommit, updatedAt];
  }
  if (pipeline === undefined) return undefined;
  const { project, id, status, commit, at } = pipeline;
  return [type, project, id, status, commit, at];
}

/** The lane in which deliveries wait for each other: that of their pull request, else of their Repository. */
export function laneOf({ spec }: Pick<WebhookDelivery, "spec">): string {
  const [lane = spec.repositories?.[0] ?? ""] = pullRequestsOf({ spec });
  return lane;
}

/** An outcome with the time at which it became final. */
export function dated(status: WebhookDeliveryStatus, now: Date): WebhookDeliveryStatus {
  return status.phase === "pending" ? status : { ...status, finishedAt: now.toISOString() };
}

/** A stored outcome as the facade answers it. */
export function outcomeOf(name: string, status: WebhookDeliveryStatus): Outcome {
  const { phase, reason, message, environments = [], trace = [] } = status;
  // To a host a refusal is no failure: sending the same again would change nothing.
  return { state: phase === "failed" ? "ignored" : phase, reason, message, environments, trace, delivery: name };
}
