import { hash } from "node:crypto";

/** Identifies a JSON value, in 12 hex digits; the order of keys matters. */
export function shortHash(value: unknown): string {
  return hash("sha256", JSON.stringify(value), "hex").slice(0, 12);
}
