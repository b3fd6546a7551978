import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** A name of this process that no other has, also not the next one of the same pod. */
export function processIdentity(): string {
  return `${hostname()}-${randomBytes(4).toString("hex")}`;
}
