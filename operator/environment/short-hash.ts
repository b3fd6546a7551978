import { hash } from "node:crypto";

/** Tells one JSON value from another, in 12 hex digits; the order of keys counts. */
export function shortHash(value: unknown): string {
  return hash("sha256", JSON.stringify(value), "hex").slice(0, 12);
}
