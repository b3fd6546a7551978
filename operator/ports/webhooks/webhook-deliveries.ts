import type {
  WebhookDelivery,
  WebhookDeliverySpec,
  WebhookDeliveryStatus,
} from "../../../crds/webhooks/webhook-delivery.ts";

/**
 * The deliveries that are stored. Reads come from this process's cache, which never shows an older version than a write
 * that this process answered; they throw ClusterUnavailable before its first complete list. Writes throw it when the
 * Kubernetes API can't be reached.
 */
export interface WebhookDeliveries {
  find(name: string): WebhookDelivery | undefined;
  list(): WebhookDelivery[];

  /** All deliveries about one pull request: events, approvals, and pipelines for which their host names it. @param key see `pullRequestKey` */
  ofPullRequest(key: string): readonly WebhookDelivery[];

  /** Those of an equal meaning (`WebhookDeliverySpec.meaning`). */
  ofMeaning(meaning: string): readonly WebhookDelivery[];

  /** Those about a pipeline or a merge group of the commit, or about a pull request whose head it is. */
  ofCommit(commit: string): readonly WebhookDelivery[];

  /** Those that have no outcome yet. */
  pending(): readonly WebhookDelivery[];

  /** Those that count when the intake is bounded (`isUndecided`): of one Repository, or all. */
  undecided(repository?: string): readonly WebhookDelivery[];

  /** Those that wait (`isWaiting`) with this key. @param key see `waitingKeyOf` */
  waitingFor(key: string): readonly WebhookDelivery[];

  /**
   * Stores it: the API server is the lock on its name.
   *
   * @returns `taken` with what is stored when the name was claimed before
   */
  claim(name: string, spec: WebhookDeliverySpec): Promise<Claim>;

  /** Stores the outcome, on the version that was read; `changed` when another process was first. */
  finish(delivery: WebhookDelivery, status: WebhookDeliveryStatus): Promise<"stored" | "changed">;

  /** Deletes exactly this one (its UID); one that is gone is fine. */
  remove(delivery: WebhookDelivery): Promise<void>;
}

export type Claim =
  | { readonly state: "claimed"; readonly delivery: WebhookDelivery }
  | { readonly state: "taken"; readonly delivery: WebhookDelivery };
