import { hash } from "node:crypto";
import { digestOf } from "../../crds/digest.ts";
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
  const { received, delivery, digest, host, sender, repositories } = webhook;
  const event = withRequiredLabels(webhook.event, repositories);
  const identity = {
    source: received.source,
    digest,
    ...(host === undefined ? {} : { host }),
    ...(delivery.deliveryId === undefined ? {} : { deliveryId: delivery.deliveryId }),
  };
  const deduplicationKey = deduplicationParts(event);
  return {
    name: deliveryName({ ...identity, sender }),
    spec: {
      ...identity,
      eventName: delivery.eventName,
      ...(deduplicationKey === undefined
        ? {}
        : { deduplicationKey: deduplicationKeyOf([host, sender, ...deduplicationKey]) }),
      verified: true,
      receivedAt: now.toISOString(),
      ...(webhook.hostRepository === undefined ? {} : { hostRepository: webhook.hostRepository }),
      repositories: repositories.slice(0, MOST_REPOSITORIES).map(({ metadata }) => metadata.name),
      event,
    },
  };
}

const MOST_REPOSITORIES = 10;

/** Stored form of an approval: one per commit of a pull request, even of two maintainers. */
export function approvalOf({ repository, number, commit, by }: Approval, now: Date): NewDelivery {
  const { metadata, spec } = repository;
  const identity = {
    source: "approval",
    digest: hash("sha256", `${metadata.name}/${number}/${commit}`),
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

interface RefetchedState {
  readonly repository: Repository;
  readonly state: PullRequestState;
  /** Cause of the fetch: one answer per cause and state. At most 128 characters. */
  readonly cause: string;
}

/** Stored form of a fetched state. */
export function refetchedDelivery({ repository, state, cause }: RefetchedState, now: Date): NewDelivery {
  const { metadata, spec } = repository;
  const identity = {
    source: "refetch",
    digest: digestOf(state, 64),
    ...(spec.host === undefined ? {} : { host: spec.host }),
    deliveryId: cause,
  } as const;
  return {
    name: deliveryName({ ...identity, sender: metadata.name }),
    spec: {
      ...identity,
      eventName: "refetch",
      verified: true,
      receivedAt: now.toISOString(),
      repositories: [metadata.name],
      event: withRequiredLabels({ type: "pull_request", pullRequest: state }, [repository]),
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
export function serialKey({ spec }: Pick<WebhookDelivery, "spec">): string {
  const [key = spec.repositories?.[0] ?? ""] = pullRequestsOf({ spec });
  return key;
}

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
