import type { Channel } from "../../../crds/notifications/notification.schema.ts";
import type { HostRepository } from "../../../crds/repository/host-repository.schema.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { RuleVerdict, WebhookDelivery, WebhookSource } from "../../../crds/webhooks/webhook-delivery.ts";
import type { ApprovalState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ArrivingWebhook, DeliveryHeaders, ReceivedWebhook } from "../webhooks/webhook-format.ts";

/** A webhook with a verified sender. */
export interface VerifiedWebhook {
  readonly received: ReceivedWebhook;
  readonly delivery: DeliveryHeaders;
  /** SHA-256 of the raw body, hexadecimal. */
  readonly digest: string;
  /** Repositories whose key verified it; empty for a webhook without a repository, such as an organization's ping. */
  readonly repositories: readonly Repository[];
  /** Id of their host in the settings; `undefined` for the contract's own format. */
  readonly host: string | undefined;
  /** Full name of the repository on the host, in lower case: key of the rate limit. */
  readonly sender: string;
  /** The repository as its host named it; `undefined` without an id, and for the contract's own format. */
  readonly hostRepository?: HostRepository;
  readonly event: WebhookEvent;
  /** Reason for `other`. */
  readonly reason?: string;
}

/** Outcome of a delivery. */
export interface Outcome {
  /** `pending`: stored and still to be decided; `duplicate`: the outcome is the first delivery's. */
  readonly state: "acted" | "ignored" | "pending" | "duplicate";
  readonly reason: string;
  readonly message: string;
  readonly environments: readonly {
    readonly name: string;
    readonly uid: string;
    readonly action: "created" | "updated" | "deleted";
  }[];
  readonly trace: readonly RuleVerdict[];
  /** Name of the stored delivery; none for `ping`. */
  readonly delivery?: string;
}

/**
 * Takes hosts' webhooks: verifies, stores, decides, acts by one write. Methods that store or act throw InboxFull when
 * too many deliveries wait, and ClusterUnavailable when nothing could be stored.
 */
export interface WebhookInbox {
  /**
   * Reads the arriving body, finds the sender and verifies the raw bytes; before that only the repository's identity is
   * used.
   *
   * @throws WebhookMalformed when the body is no JSON object; WebhookTooLarge, on record, when it exceeds the settings'
   * or storage's limit; InboxFull, on record, when too many large bodies arrive at once; WebhookRefused for a wrong or
   * missing signature or token and for an unknown repository alike; WebhookKeysMissing when no key is configured, or a
   * short one; SecretsUnavailable when the keys can't be read
   */
  verify(arriving: ArrivingWebhook): Promise<VerifiedWebhook>;
  /**
   * Stores the delivery once, decides, acts and answers; for several environments, or a terminating name, the operator
   * continues and the outcome is `pending`.
   */
  accept(webhook: VerifiedWebhook): Promise<Outcome>;
  /** Decision about such an event, without storing, acting or asking a host. */
  simulate(webhook: SimulatedWebhook): Promise<Simulation>;
  /** Decides and acts on a stored delivery again, by the current state. */
  redeliver(delivery: WebhookDelivery): Promise<Outcome>;
  /** Stores a maintainer's approval of exactly this commit of a pull request, and decides again. */
  approve(approval: Approval): Promise<Outcome>;
  /**
   * Stores an unauthenticated event for people; it is never acted on. Above a few a second it is only counted. Never
   * throws. Answers the channels that take such events.
   */
  note(event: UnverifiedEvent): Promise<readonly Channel[]>;
}

/** A host's event for a Repository. */
export interface SimulatedWebhook {
  readonly repository: Repository;
  /** Name in the host's words. */
  readonly eventName: string;
  readonly payload: unknown;
}

/** Result of a simulated event. */
export interface Simulation {
  readonly event: WebhookEvent;
  readonly decisions: readonly {
    readonly do: "create" | "update" | "delete" | "wait" | "report" | "nothing";
    readonly reason: string;
    /** Reason for waiting or doing nothing, or the report; for people. */
    readonly message?: string;
    readonly environment?: string;
  }[];
  readonly trace: readonly RuleVerdict[];
}

export interface Approval extends ApprovalState {
  readonly repository: Repository;
}

/** An event of an unauthenticated endpoint. */
export interface UnverifiedEvent {
  readonly source: Extract<WebhookSource, "generic" | "environment">;
  readonly id: string;
  readonly eventName: string;
  readonly message: string;
  readonly bytes: Buffer;
}

/** The body is not a JSON object. */
export class WebhookMalformed extends Error {
  override readonly name = "WebhookMalformed";
}

/** The body exceeds the limit that the message states. */
export class WebhookTooLarge extends Error {
  override readonly name = "WebhookTooLarge";
}

/** Unverified sender or unknown repository, indistinguishably. */
export class WebhookRefused extends Error {
  override readonly name = "WebhookRefused";
}

/** No key is configured, or one of fewer than 32 bytes. */
export class WebhookKeysMissing extends Error {
  override readonly name = "WebhookKeysMissing";
}

/** Too many deliveries wait for their outcome. */
export class InboxFull extends Error {
  override readonly name = "InboxFull";
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number, message = "Too many webhooks wait for their outcome") {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
