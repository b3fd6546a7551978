import { randomBytes } from "node:crypto";
import { hostname } from "node:os";

/** Unique name of this process, different even for the pod's next one. */
export function processIdentity(): string {
  return `${hostname()}-${randomBytes(4).toString("hex")}`;
}
