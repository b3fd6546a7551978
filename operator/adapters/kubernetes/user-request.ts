import { ClusterUnavailable, ConfigInvalid } from "../../../crds/errors.ts";
import type { ObjectCache } from "../../kit/cache/object-cache.ts";
import { isConflict, isInvalid, isUnavailable, KubeError, translated } from "../../kit/client/errors.ts";
import type { KubeObject } from "../../kit/client/objects.ts";

/** A write that lost every race succeeds once the other writers are done. */
const CONTENDED_RETRY_SECONDS = 1;
/** Default `Retry-After`, where the API server gives none. */
export const UNAVAILABLE_RETRY_SECONDS = 5;

/** The cache, where missing means absent. @throws ClusterUnavailable before its first complete list */
export function complete<T extends KubeObject>(cache: ObjectCache<T>): ObjectCache<T> {
  if (!cache.synced) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
  return cache;
}

/** Translates KubeErrors of a user's call: ClusterUnavailable, ConfigInvalid for a refused manifest, else Error. */
export const forUser = <T>(call: () => Promise<T>) => translated(call, toUserError);

function toUserError(error: unknown): Error | undefined {
  if (!(error instanceof KubeError)) return undefined;
  if (isUnavailable(error)) {
    return new ClusterUnavailable(error.retryAfterSeconds ?? UNAVAILABLE_RETRY_SECONDS, { cause: error });
  }
  // Other writers were faster, which says nothing about this change.
  if (isConflict(error)) return new ClusterUnavailable(CONTENDED_RETRY_SECONDS, { cause: error });
  if (isInvalid(error)) return refusedManifest(error);
  // Missing rights, or another policy: the request itself is fine.
  return new Error("the API server refused the platform", { cause: error });
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
