import { createHash } from "node:crypto";

/** Tells one JSON value from another, in 12 hex digits; the order of keys counts. */
export function shortHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 12);
}
