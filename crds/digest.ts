import { hash } from "node:crypto";

/** Identifies a JSON value by hexadecimal digits, the beginning of its SHA-256; the order of keys matters. */
export function digestOf(value: unknown, digits = 40): string {
  return hash("sha256", JSON.stringify(value), "hex").slice(0, digits);
}
