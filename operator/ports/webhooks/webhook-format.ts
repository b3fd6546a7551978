import type { IncomingHttpHeaders } from "node:http";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Door } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";

/** A webhook without its body. */
export interface ReceivedWebhook {
  readonly door: Extract<Door, "repohost" | "pipelinehost">;
  readonly headers: IncomingHttpHeaders;
}

/** A webhook whose raw body arrives in pieces. */
export interface ArrivingWebhook extends ReceivedWebhook {
  readonly chunks: AsyncIterable<Buffer>;
}

/** The fields of a payload that formats read; of a body, no others are kept. */
export const READ_FIELDS = [
  "action",
  "number",
  "label",
  "labels",
  "changes",
  "pull_request",
  "repository",
  "ref",
  "after",
  "deleted",
  "ref_type",
  "workflow",
  "workflow_run",
  "merge_group",
  "object_kind",
  "object_attributes",
  "project",
  "merge_request",
  "commit",
  "user",
] as const;

/** The check of one delivery, which is given the raw body in pieces. */
export interface Authentication {
  update(bytes: Buffer): void;
  /** At the end of the body, once: whether one of the keys made this delivery. */
  isAuthentic(): boolean;
}

/** The live keys of a Repository, or the global ones. Empty lists verify nothing. */
export interface WebhookKeys {
  /**
   * Keys of signatures, at least 32 bytes each. Of GitLab, one that begins with `whsec_` is a signing token (Standard
   * Webhooks) and any other a static token, which is refused where there is a signing token.
   */
  readonly secrets: readonly Sensitive[];
  /** Values of the contract's `X-Pipeline-Token`. */
  readonly pipelineTokens: readonly Sensitive[];
}

/** What the headers say of a delivery. */
export interface DeliveryHeaders {
  /** As the host names it, at most 64 characters; empty when the header is missing. */
  readonly eventName: string;
  /** At most 128 characters; `undefined` when the host gives none. */
  readonly deliveryId: string | undefined;
}

/** The fields of a payload that may have the repository it is about. */
export type RepositoryField = "repository" | "project";

/**
 * How one kind of host signs and describes its events, and names pull requests. Pure: it sends no request and stores nothing. The
 * kind is that of the Repository's host in the settings, never what a sender's headers suggest.
 */
export interface WebhookFormat {
  /** What the headers of this kind of host say; headers of other kinds are not looked at. */
  delivery(webhook: ReceivedWebhook): DeliveryHeaders;

  /**
   * Begins to check whether one of the keys made this delivery: over the raw bytes, in constant time, and where a timestamp
   * is signed, not older or newer than `replaySeconds`.
   */
  authentication(
    webhook: ReceivedWebhook,
    keys: WebhookKeys,
    at: { readonly now: Date; readonly replaySeconds: number },
  ): Authentication;

  /**
   * The event in the platform's one vocabulary. Whatever the platform does nothing about, also a payload that is not what
   * its event name says or lacks what the event needs, is `{type: "other"}` with the reason; never an error.
   *
   * @param payload parsed JSON of the verified body, with the fields that formats read (`READ_FIELDS`)
   */
  read(delivery: DeliveryHeaders, payload: unknown, at: { readonly now: Date }): ReadEvent;

  /** The field in which payloads have the repository that they are about. */
  repositoryField(webhook: Pick<ReceivedWebhook, "door">): RepositoryField;

  /** Whether a pull request may have labels that its event does not show. */
  mayHideLabels(state: Pick<PullRequestState, "action" | "labels">): boolean;

  /** The ref by which a repository has the head of a pull request, also of one from a fork. */
  pullRequestRef(number: number): string;
}

/** How many labels of a pull request are read. */
export const MOST_READ_LABELS = 1000;

export interface ReadEvent {
  /** It fits its schema, but for `pullRequest.labels`: all are here, up to `MOST_READ_LABELS`, for the rules to choose. */
  readonly event: WebhookEvent;
  /** Why it is `other`: for people, at most 300 characters. */
  readonly reason?: string;
}
