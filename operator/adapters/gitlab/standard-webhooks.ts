import { createHmac } from "node:crypto";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { ReceivedWebhook } from "../../ports/webhooks/webhook-format.ts";
import { headerOf } from "../webhook-format/headers.ts";
import { isOneOf } from "../webhook-format/signatures.ts";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const SECONDS = /^\d{1,12}$/;
const VERSION = "v1,";

/** Whether a key is a signing token. */
export const isSigningToken = (key: Sensitive): boolean => key.reveal().startsWith(PREFIX);

/**
 * Whether one of the signing tokens made this delivery, and lately.
 *
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: `webhook-signature` lists
 * signatures, of which those of `v1` are Base64 of an HMAC-SHA256 over `webhook-id`, `webhook-timestamp` and the raw body.
 *
 * @param tokens one that is no Base64 of at least 32 bytes verifies nothing
 */
export function isStandardWebhook(
  webhook: ReceivedWebhook,
  tokens: readonly Sensitive[],
  { now, replaySeconds }: { readonly now: Date; readonly replaySeconds: number },
): boolean {
  const id = headerOf(webhook, "webhook-id");
  const timestamp = headerOf(webhook, "webhook-timestamp");
  if (id === undefined || timestamp === undefined || !SECONDS.test(timestamp)) return false;
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > replaySeconds) return false;
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), webhook.bytes]);
  const expected = tokens.flatMap(keyOf).map((key) => createHmac("sha256", key).update(signed).digest("base64"));
  return signaturesOf(webhook).some((signature) => isOneOf(expected, signature));
}

/** The bytes of the key. Node decodes any text, and a key of no bytes is everybody's. */
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
