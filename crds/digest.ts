import { hash } from "node:crypto";

/** SHA-256 of a text or of bytes, in hexadecimal digits unless stated. */
export function sha256(content: string | Uint8Array, encoding: "hex" | "base64url" = "hex"): string {
  return hash("sha256", content, encoding);
}

/** First hexadecimal digits of a JSON value's SHA-256; the order of keys matters. */
export function digestOf(value: unknown, digits = 40): string {
  return sha256(JSON.stringify(value)).slice(0, digits);
}
