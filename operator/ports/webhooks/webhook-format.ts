import type { IncomingHttpHeaders } from "node:http";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Door } from "../../../crds/webhooks/webhook-delivery.ts";
import type { WebhookEvent } from "../../../crds/webhooks/webhook-event.schema.ts";

/** A webhook as it arrived, bounded in bytes and depth. */
export interface ReceivedWebhook {
  readonly door: Extract<Door, "repohost" | "pipelinehost">;
  readonly headers: IncomingHttpHeaders;
  /** The raw body: what a signature is over. */
  readonly bytes: Buffer;
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

/**
 * How one kind of host signs and describes its events. Pure: it sends no request and stores nothing. The kind is that of
 * the Repository's host in the settings, never what a sender's headers suggest.
 */
export interface WebhookFormat {
  /** What the headers of this kind of host say; headers of other kinds are not looked at. */
  delivery(webhook: ReceivedWebhook): DeliveryHeaders;

  /**
   * Whether one of the keys made this delivery: over the raw bytes, in constant time, and where a timestamp is signed, not
   * older or newer than `replaySeconds`.
   */
  isAuthentic(
    webhook: ReceivedWebhook,
    keys: WebhookKeys,
    at: { readonly now: Date; readonly replaySeconds: number },
  ): boolean;

  /**
   * The event in the platform's one vocabulary. Whatever the platform does nothing about, also a payload that is not what
   * its event name says or lacks what the event needs, is `{type: "other"}` with the reason; never an error.
   *
   * @param payload parsed JSON of the verified body
   */
  read(delivery: DeliveryHeaders, payload: unknown, at: { readonly now: Date }): ReadEvent;
}

/** How many labels of a pull request are read. */
export const MOST_READ_LABELS = 1000;

export interface ReadEvent {
  /** It fits its schema, but for `pullRequest.labels`: all are here, up to `MOST_READ_LABELS`, for the rules to choose. */
  readonly event: WebhookEvent;
  /** Why it is `other`: for people, at most 300 characters. */
  readonly reason?: string;
}
