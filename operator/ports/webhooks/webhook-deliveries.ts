import type {
  WebhookDelivery,
  WebhookDeliverySpec,
  WebhookDeliveryStatus,
} from "../../../crds/webhooks/webhook-delivery.ts";

/**
 * Stored deliveries. Reads come from this process's cache with its own writes, and throw ClusterUnavailable before its
 * first complete list. Writes throw it when the Kubernetes API is unreachable.
 */
export interface WebhookDeliveries {
  find(name: string): WebhookDelivery | undefined;
  list(): WebhookDelivery[];
  /** Deliveries about one pull request (`pullRequestKey`): events, approvals, and pipelines whose host names it. */
  ofPullRequest(key: string): readonly WebhookDelivery[];
  /** Deliveries with an equal `WebhookDeliverySpec.deduplicationKey`. */
  byDeduplicationKey(deduplicationKey: string): readonly WebhookDelivery[];
  /** Deliveries about a pipeline or merge group of the commit, or a pull request with this head. */
  ofCommit(commit: string): readonly WebhookDelivery[];
  pending(): readonly WebhookDelivery[];
  /** Deliveries that count against the intake's limit (`isUndecided`): of one Repository, or all. */
  undecided(repository?: string): readonly WebhookDelivery[];
  /** Waiting deliveries (`isWaiting`) with this key (`waitingKeyOf`). */
  waitingFor(key: string): readonly WebhookDelivery[];
  /** Stores it: the API server is the lock on its name. */
  claim(name: string, spec: WebhookDeliverySpec): Promise<DeliveryClaim>;
  /** Stores the outcome, on the version read; `changed` when another process was first. */
  finish(delivery: WebhookDelivery, status: WebhookDeliveryStatus): Promise<"stored" | "changed">;
  /** Deletes exactly this one (its UID); fine when it is gone. */
  remove(delivery: WebhookDelivery): Promise<void>;
}

/** The stored delivery; `taken`: that of another process, or of an earlier request. */
export interface DeliveryClaim {
  readonly state: "claimed" | "taken";
  readonly delivery: WebhookDelivery;
}
