/** Comparisons of signatures and tokens: in constant time, over all keys. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Authentication } from "../../ports/webhooks/webhook-format.ts";

const PREFIX = "sha256=";

/** Verifies a lower-case hexadecimal HMAC-SHA256 of the bytes by one of the keys. */
export function hmacAuthentication(keys: readonly Sensitive[], given: string | undefined): Authentication {
  const hmacs = keys.map((key) => createHmac("sha256", key.reveal()));
  return {
    update(bytes) {
      for (const hmac of hmacs) hmac.update(bytes);
    },
    isAuthentic: () =>
      isOneOf(
        hmacs.map((hmac) => hmac.digest("hex")),
        given,
      ),
  };
}

/** The same for `X-Hub-Signature-256`: `sha256=` and the HMAC. */
export function hubAuthentication(keys: readonly Sensitive[], given: string | undefined): Authentication {
  return hmacAuthentication(keys, given?.startsWith(PREFIX) ? given.slice(PREFIX.length) : undefined);
}

/** Verifies a token, independent of the bytes; see `isTokenOf`. */
export function tokenAuthentication(tokens: readonly Sensitive[], given: string | undefined): Authentication {
  return { update: () => undefined, isAuthentic: () => isTokenOf(tokens, given) };
}

/** True when a text is one of the non-empty tokens, without showing their lengths by time. */
function isTokenOf(tokens: readonly Sensitive[], given: string | undefined): boolean {
  if (given === undefined) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  const accepted = tokens.map((token) => token.reveal()).filter((token) => token !== "");
  return isOneOf(accepted.map(digest), digest(given));
}

/** True when the text is one of the expected ones, which are of one length. */
export function isOneOf(expected: readonly string[], given: string | undefined): boolean {
  const found = Buffer.from(given ?? "");
  const equal = expected.map((text) => {
    const wanted = Buffer.from(text);
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  });
  return equal.includes(true);
}
