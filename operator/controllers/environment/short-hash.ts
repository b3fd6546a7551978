import { digestOf } from "../../../crds/digest.ts";

/** Hash of a JSON value, in 12 hex digits; the order of keys matters. */
export function shortHash(value: unknown): string {
  return digestOf(value, 12);
}
