import { digestOf, sha256 } from "../../crds/digest.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import {
  deduplicationKeyOf,
  deliveryName,
  pullRequestsOf,
  type WebhookDelivery,
  type WebhookDeliverySpec,
  type WebhookDeliveryStatus,
} from "../../crds/webhooks/webhook-delivery.ts";
import { MOST_LABELS, type PullRequestState, type WebhookEvent } from "../../crds/webhooks/webhook-event.schema.ts";
import type { Approval, Outcome, VerifiedWebhook } from "../ports/api/webhook-inbox.ts";

export interface NewDelivery {
  readonly name: string;
  readonly spec: WebhookDeliverySpec;
}

/** Stored form of a webhook: extracted fields only. */
export function deliveryOf(webhook: VerifiedWebhook, now: Date): NewDelivery {
  const { received, delivery, digest, host, sender, repositories, hostRepository } = webhook;
  const { deliveryId, eventName } = delivery;
  const event = withRequiredLabels(webhook.event, repositories);
  const key = deduplicationParts(event);
  const identity = {
    source: received.source,
    digest,
    ...(host !== undefined && { host }),
    ...(deliveryId !== undefined && { deliveryId }),
  };
  return {
    name: deliveryName({ ...identity, sender }),
    spec: {
      ...identity,
      eventName,
      ...(key !== undefined && { deduplicationKey: deduplicationKeyOf([host, sender, ...key]) }),
      verified: true,
      receivedAt: now.toISOString(),
      ...(hostRepository !== undefined && { hostRepository }),
      repositories: repositories.slice(0, MOST_REPOSITORIES).map(({ metadata }) => metadata.name),
      event,
    },
  };
}

const MOST_REPOSITORIES = 10;

/** Stored form of an approval: one per commit of a pull request, even of two maintainers. */
export function approvalOf({ repository, number, commit, by }: Approval, now: Date): NewDelivery {
  const digest = sha256(`${repository.metadata.name}/${number}/${commit}`);
  const event: WebhookEvent = { type: "approval", approval: { number, commit, by } };
  return ownDelivery(repository, { source: "approval", digest, deliveryId: `${number}/${commit}`, event }, now);
}

interface RefetchedState {
  readonly repository: Repository;
  readonly state: PullRequestState;
  /** Cause of the fetch: one answer per cause and state. At most 128 characters. */
  readonly cause: string;
}

/** Stored form of a fetched state. */
export function refetchedDelivery({ repository, state, cause }: RefetchedState, now: Date): NewDelivery {
  const event = withRequiredLabels({ type: "pull_request", pullRequest: state }, [repository]);
  const digest = digestOf(state, 64);
  return ownDelivery(repository, { source: "refetch", digest, deliveryId: cause, event }, now);
}

type OwnEvent = Pick<WebhookDeliverySpec, "source" | "digest" | "event"> & { readonly deliveryId: string };

/** Stored form of an event of the platform's own about one Repository. */
function ownDelivery({ metadata, spec }: Repository, { event, ...own }: OwnEvent, now: Date): NewDelivery {
  const identity = { ...own, ...(spec.host !== undefined && { host: spec.host }) };
  return {
    name: deliveryName({ ...identity, sender: metadata.name }),
    spec: {
      ...identity,
      eventName: own.source,
      verified: true,
      receivedAt: now.toISOString(),
      repositories: [metadata.name],
      event,
    },
  };
}

/** Required labels first: the number of stored ones is limited. */
function withRequiredLabels(event: WebhookEvent, repositories: readonly Repository[]): WebhookEvent {
  if (event.pullRequest === undefined) return event;
  const required = new Set(repositories.flatMap(({ spec }) => spec.pullRequest?.requiredLabels ?? []));
  const labels = [...new Set(event.pullRequest.labels)];
  const first = labels.filter((label) => required.has(label));
  const others = labels.filter((label) => !required.has(label));
  return { ...event, pullRequest: { ...event.pullRequest, labels: [...first, ...others].slice(0, MOST_LABELS) } };
}

/** Identity of an event by its type, if it has one. */
function deduplicationParts({ type, pullRequest, pipeline }: WebhookEvent) {
  if (pullRequest !== undefined) {
    const { number, action, headCommit, updatedAt } = pullRequest;
    return [type, number, action, headCommit, updatedAt];
  }
  if (pipeline === undefined) return undefined;
  const { project, id, status, commit, at } = pipeline;
  return [type, project, id, status, commit, at];
}

/** Serial key of a delivery: its pull request, else its Repository. */
export const serialKey = ({ spec }: Pick<WebhookDelivery, "spec">): string =>
  pullRequestsOf({ spec })[0] ?? spec.repositories?.[0] ?? "";

/** An outcome with the time at which it became final. */
export function dated(status: WebhookDeliveryStatus, now: Date): WebhookDeliveryStatus {
  return status.phase === "pending" ? status : { ...status, finishedAt: now.toISOString() };
}

/** A stored outcome in the API's form. */
export function outcomeOf(name: string, status: WebhookDeliveryStatus): Outcome {
  const { phase, reason, message, environments = [], trace = [] } = status;
  // To a host a refusal is no failure: a repetition would change nothing.
  return { state: phase === "failed" ? "ignored" : phase, reason, message, environments, trace, delivery: name };
}
