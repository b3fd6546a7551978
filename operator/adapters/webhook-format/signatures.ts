/** The comparisons of signatures and tokens: in constant time, and over all keys whichever of them fits. */
import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Authentication } from "../../ports/webhooks/webhook-format.ts";

const PREFIX = "sha256=";

/** Checks a lower-case hexadecimal HMAC-SHA256 of the bytes, made with one of the keys. */
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

/** The same for the value of `X-Hub-Signature-256`: `sha256=` and the HMAC. */
export function hubAuthentication(keys: readonly Sensitive[], given: string | undefined): Authentication {
  return hmacAuthentication(keys, given?.startsWith(PREFIX) ? given.slice(PREFIX.length) : undefined);
}

/** Checks a token, which says nothing of the bytes; see `isTokenOf`. */
export function tokenAuthentication(tokens: readonly Sensitive[], given: string | undefined): Authentication {
  return { update: () => undefined, isAuthentic: () => isTokenOf(tokens, given) };
}

/** Whether a text is one of the tokens; an empty token is none. Their lengths don't show in the time either. */
function isTokenOf(tokens: readonly Sensitive[], given: string | undefined): boolean {
  if (given === undefined) return false;
  const digest = (text: string) => createHash("sha256").update(text).digest("hex");
  const accepted = tokens.map((token) => token.reveal()).filter((token) => token !== "");
  return isOneOf(accepted.map(digest), digest(given));
}

/** Whether the text is one of the expected ones, which are of one length. */
export function isOneOf(expected: readonly string[], given: string | undefined): boolean {
  const found = Buffer.from(given ?? "");
  const equal = expected.map((text) => {
    const wanted = Buffer.from(text);
    return wanted.length === found.length && timingSafeEqual(wanted, found);
  });
  return equal.includes(true);
}
