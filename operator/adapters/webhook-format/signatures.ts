/** Comparisons of signatures and tokens: in constant time, over all keys. */
import { createHmac, type Hmac, timingSafeEqual } from "node:crypto";
import { digestOf } from "../../../crds/digest.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Authentication } from "../../ports/webhooks/webhook-format.ts";

const PREFIX = "sha256=";
const SHA256_DIGITS = 64;

/** Verifies that a given signature is one of the HMACs over the bytes. */
export function anySignature(
  hmacs: readonly Hmac[],
  encoding: "hex" | "base64",
  given: readonly string[],
): Authentication {
  return {
    update(bytes) {
      for (const hmac of hmacs) hmac.update(bytes);
    },
    isAuthentic() {
      const expected = hmacs.map((hmac) => hmac.digest(encoding));
      return given.some((signature) => isOneOf(expected, signature));
    },
  };
}

/** Verifies a lower-case hexadecimal HMAC-SHA256 of the bytes by one of the keys. */
export function hmacAuthentication(keys: readonly Sensitive[], given = ""): Authentication {
  const hmacs = keys.map((key) => createHmac("sha256", key.reveal()));
  return anySignature(hmacs, "hex", [given]);
}

/** The same for `X-Hub-Signature-256`: `sha256=` and the HMAC. */
export function hubAuthentication(keys: readonly Sensitive[], given = ""): Authentication {
  return hmacAuthentication(keys, given.startsWith(PREFIX) ? given.slice(PREFIX.length) : "");
}

/** Verifies one of the non-empty tokens, independent of the bytes, without showing the tokens' lengths by time. */
export function tokenAuthentication(tokens: readonly Sensitive[], given = ""): Authentication {
  const digest = (text: string) => digestOf(text, SHA256_DIGITS);
  const accepted = tokens.map((token) => token.reveal()).filter((token) => token !== "");
  return { update: () => undefined, isAuthentic: () => isOneOf(accepted.map(digest), digest(given)) };
}

/** True when the text is one of the expected ones, which are of one length. */
function isOneOf(expected: readonly string[], given: string): boolean {
  const found = Buffer.from(given);
  const equal = expected.map((text) => {
    const expectedBytes = Buffer.from(text);
    return expectedBytes.length === found.length && timingSafeEqual(expectedBytes, found);
  });
  return equal.includes(true);
}
