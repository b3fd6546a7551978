import type { Channel } from "../../../crds/notifications/notification.schema.ts";
import type { HostRepository } from "../../../crds/repository/host-repository.schema.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import type { Door, RuleVerdict, WebhookDelivery } from "../../../crds/webhooks/webhook-delivery.ts";
import type { ApprovalState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";
import type { ArrivingWebhook, DeliveryHeaders, ReceivedWebhook } from "../webhooks/webhook-format.ts";

/** A webhook whose sender is known. */
export interface VerifiedWebhook {
  readonly received: ReceivedWebhook;
  readonly delivery: DeliveryHeaders;
  /** SHA-256 of the raw body, in hexadecimal. */
  readonly digest: string;
  /** The Repositories whose key verified it; empty for a webhook without a repository, such as an organization's ping. */
  readonly repositories: readonly Repository[];
  /** The id of their host in the settings; `undefined` for the contract's own format. */
  readonly host: string | undefined;
  /** The repository's full name on the host, in lower case: what the rate is counted by. */
  readonly sender: string;
  /** The repository as its host named it; `undefined` where it gave no id, and for the contract's own format. */
  readonly hostRepository?: HostRepository;
  readonly event: WebhookEvent;
  /** Why it is `other`. */
  readonly reason?: string;
}

/** What became of a delivery. */
export interface Outcome {
  /** `pending`: it is stored and will be decided; `duplicate`: the outcome is that of the first delivery. */
  readonly state: "acted" | "ignored" | "pending" | "duplicate";
  readonly reason: string;
  /** For people. */
  readonly message: string;
  readonly environments: readonly {
    readonly name: string;
    readonly uid: string;
    readonly action: "created" | "updated" | "deleted";
  }[];
  readonly trace: readonly RuleVerdict[];
  /** The name of the stored delivery; none for `ping`. */
  readonly delivery?: string;
}

/** Takes webhooks of hosts: verifies, stores, decides, acts by one write. */
export interface WebhookInbox {
  /**
   * Reads the body as it arrives, finds the sender and verifies the raw bytes; nothing but the repository's identity is
   * used of it before.
   *
   * @throws WebhookMalformed when the body is no JSON object; WebhookTooLarge, which is on record, when it has more bytes than the
   *   settings allow or than can be kept; InboxFull, which is too, when too many large bodies arrive at once; WebhookRefused for a wrong or missing signature or token and
   *   for an unknown repository alike; WebhookKeysMissing when no key is configured, or one that is too short;
   *   SecretsUnavailable when the keys can't be read now
   */
  verify(arriving: ArrivingWebhook): Promise<VerifiedWebhook>;

  /**
   * Stores the delivery once, decides and acts. The answer comes when the write is done; where several environments are
   * concerned, or the name is still being deleted, the operator goes on and the outcome is `pending`.
   *
   * @throws InboxFull when too many deliveries wait; ClusterUnavailable when nothing could be stored
   */
  accept(webhook: VerifiedWebhook): Promise<Outcome>;

  /** What would be decided about such an event now, without storing, acting or asking a host. */
  simulate(asked: SimulatedWebhook): Promise<Simulation>;

  /**
   * Decides and acts on a stored delivery again, by the state of now.
   *
   * @throws ClusterUnavailable
   */
  redeliver(delivery: WebhookDelivery): Promise<Outcome>;

  /**
   * Stores that a maintainer of ours lets the pull request have an environment of exactly this commit, and decides anew.
   *
   * @throws InboxFull, ClusterUnavailable
   */
  approve(approval: Approval): Promise<Outcome>;

  /**
   * Stores an event that anybody may have sent, for people: it is never acted on. Beyond a few a second it is only
   * counted. Never throws.
   *
   * @returns the channels that take such events
   */
  note(event: UnverifiedEvent): Promise<readonly Channel[]>;
}

/** An event as a host would send it, for a Repository. */
export interface SimulatedWebhook {
  readonly repository: Repository;
  /** As the host names it. */
  readonly eventName: string;
  readonly payload: unknown;
}

/** What would be done about an event. */
export interface Simulation {
  readonly event: WebhookEvent;
  readonly decisions: readonly {
    readonly do: "create" | "update" | "delete" | "wait" | "report" | "nothing";
    readonly reason: string;
    /** Why nothing is done yet, or at all, or what is reported; for people. */
    readonly message?: string;
    /** The name of the environment. */
    readonly environment?: string;
  }[];
  readonly trace: readonly RuleVerdict[];
}

/** The approval of a fork's commit. */
export interface Approval extends ApprovalState {
  readonly repository: Repository;
}

/** An event of an endpoint without authentication. */
export interface UnverifiedEvent {
  readonly door: Extract<Door, "generic" | "environment">;
  readonly id: string;
  /** What the sender calls it. */
  readonly eventName: string;
  readonly message: string;
  readonly bytes: Buffer;
}

/** The body is not a JSON object. */
export class WebhookMalformed extends Error {
  override readonly name = "WebhookMalformed";
}

/** The body has too many bytes; the message says how many it may have. */
export class WebhookTooLarge extends Error {
  override readonly name = "WebhookTooLarge";
}

/** The sender is not who it has to be; the same for an unknown repository. */
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
