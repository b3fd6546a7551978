import { digestOf } from "../digest.ts";
import { pullRequestKey } from "../environment/environment-record.ts";
import { kindOf, type Namespaced, type Resource, TRACEPARENT_ANNOTATION } from "../group.ts";
import type { WebhookDeliverySpec, WebhookDeliveryStatus } from "./webhook-delivery.schema.ts";

export type {
  DeliveryPhase,
  RuleVerdict,
  WebhookDeliverySpec,
  WebhookDeliveryStatus,
  WebhookSource,
} from "./webhook-delivery.schema.ts";

/**
 * One accepted delivery of a host: extracted fields only, its outcome, and the rules' verdicts. Its `deliveryName`
 * makes the API server its lock.
 */
export interface WebhookDelivery extends Resource<"WebhookDelivery", WebhookDeliverySpec, Namespaced> {
  /** Absent until its outcome is known: then it is pending. */
  readonly status?: WebhookDeliveryStatus;
}

export const webhookDeliveryKind = kindOf("WebhookDelivery", "webhookdeliveries");

interface DeliveryIdentity extends Pick<WebhookDeliverySpec, "source" | "host" | "deliveryId" | "digest"> {
  /** Full name of the repository on the host, in lower case. */
  readonly sender?: string | undefined;
}

/** Name of a delivery: a hash of host, repository and delivery id, or of the body without an id. */
export function deliveryName({ source, host = "", sender = "", deliveryId, digest }: DeliveryIdentity): string {
  return digestOf([source, host, sender, deliveryId ?? ["body", digest]]);
}

/** A hash of what an event means, see `WebhookDeliverySpec.deduplicationKey`. */
export const deduplicationKeyOf = (parts: readonly (string | number | boolean | undefined)[]): string =>
  digestOf(parts.map((part) => part ?? null));

/** A stored delivery, or one that is about to be. */
interface Specified {
  readonly spec: WebhookDeliverySpec;
}

/** Commit of a pipeline or a merge group, or the head of a pull request. */
export function reportedCommit({ spec: { event } }: Specified): string | undefined {
  const { pipeline, mergeGroup, pullRequest } = event;
  return (pipeline ?? mergeGroup)?.commit ?? pullRequest?.headCommit;
}

/** True when the delivery needs no further processing. */
export function isFinal({ status }: WebhookDelivery): boolean {
  return status?.phase === "acted" || status?.phase === "ignored";
}

/** True while the delivery has no outcome. */
export function isPending({ status }: WebhookDelivery): boolean {
  return status === undefined || status.phase === "pending";
}

/** True while the delivery waits for a name in deletion, or for an unavailable host or secret manager. */
export function isWaiting(delivery: WebhookDelivery): boolean {
  return isPending(delivery) && delivery.status?.waitsSince !== undefined;
}

/**
 * True when the delivery counts for the intake's limit: its decision is open. Waiting ones don't count, which their
 * keys and their hour bound; nor does the end of a pull request, which decides its other deliveries.
 */
export function isUndecided(delivery: WebhookDelivery): boolean {
  return isPending(delivery) && !isWaiting(delivery) && !isEndOfPullRequest(delivery);
}

/** True when the delivery reports a closed pull request. */
export function isEndOfPullRequest({ spec }: Specified): boolean {
  return spec.event.pullRequest?.state === "closed";
}

/**
 * Key of all deliveries that wait for the same decision, of which the newest is enough: of a pull request, of a
 * branch's deletion, or of a branch's pipelines with one status. `undefined` for a delivery that stands alone.
 */
export function waitingKeyOf({ spec }: Specified): string | undefined {
  const { event, host = "", repositories = [] } = spec;
  const { push, pipeline, pullRequest } = event;
  const pullRequests = pullRequestsOf({ spec });
  if (pipeline === undefined && pullRequests.length > 0) {
    // Repositories that share a project on a host may have different rules for an action.
    const action = pullRequests.length > 1 ? (pullRequest?.action ?? "approval") : "";
    return digestOf(["pull request", ...pullRequests, action]);
  }
  if (push?.deleted) return digestOf(["branch", host, ...repositories, push.branch]);
  if (pipeline === undefined) return undefined;
  const { project, branch = "", status } = pipeline;
  return digestOf(["pipeline", host, ...repositories, project, branch, status]);
}

/** `traceparent` of the request that brought the delivery, if traced, until its outcome is known. */
export function undecidedTraceparent(delivery: WebhookDelivery): string | undefined {
  return isPending(delivery) ? delivery.metadata.annotations?.[TRACEPARENT_ANNOTATION] : undefined;
}

/** Pull requests of the delivery or its pipeline, one for each Repository; see `pullRequestKey`. */
export function pullRequestsOf({ spec }: Specified): readonly string[] {
  const { event, host = "", repositories = [] } = spec;
  const number = event.pullRequest?.number ?? event.approval?.number ?? event.pipeline?.pullRequest;
  return number === undefined ? [] : repositories.map((repository) => pullRequestKey(host, repository, number));
}
