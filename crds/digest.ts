import { hash } from "node:crypto";

/** First hexadecimal digits of a JSON value's SHA-256; the order of keys matters. */
export function digestOf(value: unknown, digits = 40): string {
  return hash("sha256", JSON.stringify(value), "hex").slice(0, digits);
}
