import { digestOf } from "../digest.ts";
import { pullRequestKey } from "../environment/environment-record.ts";
import { kindOf, type Namespaced, type Resource, TRACEPARENT_ANNOTATION } from "../group.ts";
import type { WebhookDeliverySpec, WebhookDeliveryStatus } from "./webhook-delivery.schema.ts";

export type {
  DeliveryPhase,
  Door,
  RuleVerdict,
  WebhookDeliverySpec,
  WebhookDeliveryStatus,
} from "./webhook-delivery.schema.ts";

/**
 * One accepted delivery of a host: extracted fields only, its outcome, and the verdicts of the rules. See `deliveryName` for
 * its name: the API server is the lock on a delivery.
 */
export interface WebhookDelivery extends Resource<"WebhookDelivery", WebhookDeliverySpec, Namespaced> {
  /** Absent until its outcome is known: then it is pending. */
  readonly status?: WebhookDeliveryStatus;
}

export const webhookDeliveryKind = kindOf("WebhookDelivery", "webhookdeliveries");

/** What a delivery is told by. */
interface DeliveryIdentity extends Pick<WebhookDeliverySpec, "door" | "host" | "deliveryId" | "digest"> {
  /** The repository's full name on the host, in lower case. */
  readonly sender?: string | undefined;
}

/** The name of a delivery: a hash of host, repository and delivery id, or of the body where the host gives no id. */
export function deliveryName({ door, host = "", sender = "", deliveryId, digest }: DeliveryIdentity): string {
  return digestOf([door, host, sender, deliveryId ?? ["body", digest]]);
}

/** A hash of what an event means, see `WebhookDeliverySpec.meaning`. */
export const meaningOf = (parts: readonly (string | number | boolean | undefined)[]): string =>
  digestOf(parts.map((part) => part ?? null));

/** The commit that it is about: that of a pipeline or a merge group, or the head of a pull request. */
export function reportedCommit({ spec: { event } }: Pick<WebhookDelivery, "spec">): string | undefined {
  const { pipeline, mergeGroup, pullRequest } = event;
  return (pipeline ?? mergeGroup)?.commit ?? pullRequest?.headCommit;
}

/** Whether nothing is left to do about it. */
export function isFinal({ status }: WebhookDelivery): boolean {
  return status?.phase === "acted" || status?.phase === "ignored";
}

/** Whether it waits for its outcome. */
export function isPending({ status }: WebhookDelivery): boolean {
  return status === undefined || status.phase === "pending";
}

/** Whether it waits for a name that is being deleted, or for a host or secret manager that can't be asked. */
export function isWaiting(delivery: WebhookDelivery): boolean {
  return isPending(delivery) && delivery.status?.waitsSince !== undefined;
}

/**
 * Whether it counts when the intake is bounded: it is still to be decided. Neither what waits counts, whose number is
 * bounded by its keys and its hour, nor the end of a pull request, which settles what else there is about it.
 */
export function isUndecided(delivery: WebhookDelivery): boolean {
  return isPending(delivery) && !isWaiting(delivery) && !isEndOfPullRequest(delivery);
}

/** Whether it reports a pull request that is closed. */
export function isEndOfPullRequest({ spec }: Pick<WebhookDelivery, "spec">): boolean {
  return spec.event.pullRequest?.state === "closed";
}

/**
 * The key of all deliveries that wait for the same decision, of which the newest is enough: that of a pull request, of the
 * deletion of a branch, or of the pipelines of a branch with one status. `undefined` for a delivery that stands alone.
 */
export function waitingKeyOf({ spec }: Pick<WebhookDelivery, "spec">): string | undefined {
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

/** The `traceparent` of the request that it came with, if that was traced and its outcome is not known yet. */
export function undecidedTraceparent(delivery: WebhookDelivery): string | undefined {
  return isPending(delivery) ? delivery.metadata.annotations?.[TRACEPARENT_ANNOTATION] : undefined;
}

/** The pull requests that it is about, or that its pipeline builds, one of each of its Repositories; see `pullRequestKey`. */
export function pullRequestsOf({ spec }: Pick<WebhookDelivery, "spec">): readonly string[] {
  const { event, host = "", repositories = [] } = spec;
  const number = event.pullRequest?.number ?? event.approval?.number ?? event.pipeline?.pullRequest;
  return number === undefined ? [] : repositories.map((repository) => pullRequestKey(host, repository, number));
}
