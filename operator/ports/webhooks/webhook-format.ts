import type { IncomingHttpHeaders } from "node:http";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { WebhookSource } from "../../../crds/webhooks/webhook-delivery.ts";
import type { PullRequestState, WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";

/** A webhook without its body. */
export interface ReceivedWebhook {
  readonly source: Extract<WebhookSource, "repohost" | "pipelinehost">;
  readonly headers: IncomingHttpHeaders;
}

/** A webhook whose raw body arrives in pieces. */
export interface ArrivingWebhook extends ReceivedWebhook {
  readonly chunks: AsyncIterable<Buffer>;
}

/** Fields of a payload that formats read; of a body, no others are kept. */
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

/** Verification of one delivery, fed with pieces of the raw body. */
export interface Authentication {
  update(bytes: Buffer): void;
  /** Call once, after the body: true when one of the keys made this delivery. */
  isAuthentic(): boolean;
}

/** Live keys of a Repository, or the global ones. Empty lists verify nothing. */
export interface WebhookKeys {
  /**
   * Signature keys, at least 32 bytes each. For GitLab, a key that begins with `whsec_` is a signing token (Standard
   * Webhooks) and any other a static token, which is refused beside a signing token.
   */
  readonly secrets: readonly Sensitive[];
  /** Values of the contract's `X-Pipeline-Token`. */
  readonly pipelineTokens: readonly Sensitive[];
}

/** Facts in a delivery's headers. */
export interface DeliveryHeaders {
  /** Name in the host's words, at most 64 characters; empty without the header. */
  readonly eventName: string;
  /** Id of at most 128 characters; `undefined` without one. */
  readonly deliveryId: string | undefined;
}

/** The fields of a payload that may have the repository it is about. */
export type RepositoryField = "repository" | "project";

/**
 * The format of one kind of host: its signatures, its events, its names of pull requests. Pure: it sends no request and stores nothing. The
 * kind is that of the Repository's host in the settings, never what a sender's headers suggest.
 */
export interface WebhookFormat {
  /** Reads this kind's headers and no others. */
  delivery(webhook: ReceivedWebhook): DeliveryHeaders;
  /**
   * Begins to verify that one of the keys made this delivery: over the raw bytes, in constant time, and where a
   * timestamp is signed, not older or newer than `replaySeconds`.
   */
  authentication(
    webhook: ReceivedWebhook,
    keys: WebhookKeys,
    at: { readonly now: Date; readonly replaySeconds: number },
  ): Authentication;
  /**
   * The event in the platform's vocabulary. Events that the platform ignores, and payloads that contradict their event
   * name or lack a needed field, are `{type: "other"}` with the reason; never an error.
   *
   * @param payload parsed JSON of the verified body, with `READ_FIELDS`
   */
  read(delivery: DeliveryHeaders, payload: unknown, at: { readonly now: Date }): ReadEvent;
  /** The field in which payloads have the repository that they are about. */
  repositoryField(webhook: Pick<ReceivedWebhook, "source">): RepositoryField;
  /** True when a pull request may have labels that its event does not show. */
  mayHideLabels(state: Pick<PullRequestState, "action" | "labels">): boolean;
  /** The ref by which a repository has the head of a pull request, also of one from a fork. */
  pullRequestRef(number: number): string;
}

/** Limit on a pull request's labels. */
export const MOST_READ_LABELS = 1000;

export interface ReadEvent {
  /** Fits its schema, but for `pullRequest.labels`: all are here, up to `MOST_READ_LABELS`, for the rules to choose. */
  readonly event: WebhookEvent;
  /** Reason for `other`, for people, at most 300 characters. */
  readonly reason?: string;
}
