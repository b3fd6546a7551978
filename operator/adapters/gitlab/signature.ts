import { createHmac } from "node:crypto";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Authentication, ReceivedWebhook } from "../../ports/webhooks/webhook-format.ts";
import { headerOf } from "../webhook-format/payload.ts";
import { isOneOf } from "../webhook-format/signatures.ts";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const SECONDS = /^\d{1,12}$/;
const VERSION = "v1,";

export const isSigningToken = (key: Sensitive): boolean => key.reveal().startsWith(PREFIX);

const NOT_AUTHENTIC: Authentication = { update: () => undefined, isAuthentic: () => false };

/**
 * Verifies that one of the signing tokens made this delivery, recently.
 *
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: `webhook-signature` lists
 * signatures, of which `v1` ones are Base64 of an HMAC-SHA256 over `webhook-id`, `webhook-timestamp` and the raw body.
 *
 * @param tokens one that is no Base64 of at least 32 bytes verifies nothing
 */
export function standardAuthentication(
  webhook: ReceivedWebhook,
  tokens: readonly Sensitive[],
  { now, replaySeconds }: { readonly now: Date; readonly replaySeconds: number },
): Authentication {
  const id = headerOf(webhook, "webhook-id");
  const timestamp = headerOf(webhook, "webhook-timestamp");
  if (id === undefined || timestamp === undefined || !SECONDS.test(timestamp)) return NOT_AUTHENTIC;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > replaySeconds) return NOT_AUTHENTIC;
  const hmacs = tokens.flatMap(keyOf).map((key) => createHmac("sha256", key).update(`${id}.${timestamp}.`));
  return {
    update(bytes) {
      for (const hmac of hmacs) hmac.update(bytes);
    },
    isAuthentic() {
      const expected = hmacs.map((hmac) => hmac.digest("base64"));
      return signaturesOf(webhook).some((signature) => isOneOf(expected, signature));
    },
  };
}

/** Bytes of the key. Node decodes any text, and anyone can sign with an empty key. */
function keyOf(token: Sensitive): Buffer[] {
  const encoded = token.reveal().slice(PREFIX.length);
  const key = Buffer.from(encoded, "base64");
  return BASE64.test(encoded) && key.length >= KEY_BYTES ? [key] : [];
}

const signaturesOf = (webhook: ReceivedWebhook): string[] =>
  (headerOf(webhook, "webhook-signature") ?? "")
    .split(" ")
    .filter((signature) => signature.startsWith(VERSION))
    .map((signature) => signature.slice(VERSION.length));
