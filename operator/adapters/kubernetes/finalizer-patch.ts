import { isConflict, isInvalid, isNotFound } from "../../kit/client/errors.ts";
import type { ObjectMeta } from "../../kit/client/objects.ts";

type Held = Pick<ObjectMeta, "uid" | "finalizers">;

/**
 * The JSON patch that takes these finalizers off an object, or every one; `undefined` where it has none of them. It holds for
 * this very object as it was read: what another writer changed of its finalizers meanwhile fails it.
 */
export function releasing({ uid, finalizers = [] }: Held, unwanted: readonly string[] = finalizers) {
  const kept = finalizers.filter((finalizer) => !unwanted.includes(finalizer));
  if (kept.length === finalizers.length) return undefined;
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: "/metadata/finalizers", value: finalizers },
    { op: "replace", path: "/metadata/finalizers", value: kept },
  ];
}

/** Whether the object went or changed between the read and the patch: the next call reads again. */
export const isOvertaken = (error: unknown) => isNotFound(error) || isConflict(error) || isInvalid(error);
