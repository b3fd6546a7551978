import { ClusterUnavailable, ConfigInvalid } from "../../../crds/errors.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { isConflict, isInvalid, isUnavailable, KubeError } from "../../kit/client/errors.ts";
import type { KubeObject } from "../../kit/client/objects.ts";

/** Who lost every race for a write has better luck when the others are through. */
const CONTENDED_RETRY_SECONDS = 1;
/** How soon trying again makes sense where the API server says nothing of it. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

/**
 * The cache, for somebody who takes what it lacks for absent.
 *
 * @throws ClusterUnavailable before its first complete list
 */
export function complete<T extends KubeObject>(cache: ObjectCache<T>): ObjectCache<T> {
  if (!cache.synced) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
  return cache;
}

/**
 * A call that somebody waits for: above the adapters nobody sees a KubeError of it.
 *
 * @throws ClusterUnavailable, ConfigInvalid when the manifest is refused, Error when the platform is
 */
export async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    if (isUnavailable(error)) {
      throw new ClusterUnavailable(error.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS, { cause: error });
    }
    // Somebody else's changes were quicker each time, which says nothing of this one.
    if (isConflict(error)) throw new ClusterUnavailable(CONTENDED_RETRY_SECONDS, { cause: error });
    if (isInvalid(error)) throw refusedManifest(error);
    // Missing rights, somebody else's policy: nothing that the caller asked for is wrong.
    throw new Error("the API server refused the platform", { cause: error });
  }
}

function refusedManifest(error: KubeError): ConfigInvalid {
  const violations = error.causes.map(({ field, message }) => ({
    field: field ?? "",
    message: message ?? "is not valid",
  }));
  return new ConfigInvalid(
    violations.length > 0 ? violations : [{ field: "", message: error.detail() || "the manifest is not valid" }],
  );
}
