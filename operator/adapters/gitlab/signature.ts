import { createHmac } from "node:crypto";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Authentication, ReceivedWebhook, WebhookFormat } from "../../ports/webhooks/webhook-format.ts";
import { headerOf } from "../webhook-format/payload.ts";
import { anySignature, tokenAuthentication } from "../webhook-format/signatures.ts";

const PREFIX = "whsec_";
const KEY_BYTES = 32;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const SECONDS = /^\d{1,12}$/;
const VERSION = "v1,";

export const isSigningToken = (key: Sensitive): boolean => key.reveal().startsWith(PREFIX);

/** Verifies GitLab's signature. A signing token precedes a static token, which signs nothing. */
export const gitlabAuthentication: WebhookFormat["authentication"] = (webhook, { secrets }, window) => {
  const signing = secrets.filter(isSigningToken);
  if (signing.length === 0) return tokenAuthentication(secrets, headerOf(webhook, "x-gitlab-token"));
  return standardAuthentication(webhook, signing, window);
};

/**
 * Verifies that one of the signing tokens made this delivery, recently.
 *
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md: `webhook-signature` lists
 * signatures, of which `v1` ones are Base64 of an HMAC-SHA256 over `webhook-id`, `webhook-timestamp` and the raw body.
 *
 * @param tokens one that is no Base64 of at least 32 bytes verifies nothing
 */
function standardAuthentication(
  webhook: ReceivedWebhook,
  tokens: readonly Sensitive[],
  { now, replaySeconds }: { readonly now: Date; readonly replaySeconds: number },
): Authentication {
  const id = headerOf(webhook, "webhook-id");
  const timestamp = headerOf(webhook, "webhook-timestamp") ?? "";
  const isRecent = Math.abs(now.getTime() / 1000 - Number(timestamp)) <= replaySeconds;
  if (id === undefined || !SECONDS.test(timestamp) || !isRecent) return anySignature([], "base64", []);
  const hmacs = tokens.flatMap(keyOf).map((key) => createHmac("sha256", key).update(`${id}.${timestamp}.`));
  return anySignature(hmacs, "base64", signaturesOf(webhook));
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
