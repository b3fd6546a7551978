import type { ApiToken } from "../../../crds/api-token.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import type { OwnDeletions } from "../../kit/client/own-deletions.ts";

/** Calls `onDelete` for every token that is deleted from now on by anyone but this process; returns the end of it. */
export function removeOnDeletion(
  cache: ObjectCache<ApiToken>,
  removals: OwnDeletions,
  onDelete: (deleted: ApiToken) => void,
): () => void {
  return cache.subscribe((_key, current, previous) => {
    const isGone = previous !== undefined && current?.metadata.uid !== previous.metadata.uid;
    // A token that this process deletes has lost its value before, or had none; the sweep finds the rest.
    if (isGone && previous.spec.keepsValue && !removals.has(previous.metadata.uid)) onDelete(previous);
  });
}
