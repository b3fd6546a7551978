import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict } from "../../../../crds/errors.ts";
import { isConflict, isForbidden, isInvalid, type KubeError } from "../../../kit/client/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { retryOnConflict } from "../../../kit/client/retry-on-conflict.ts";
import { type OperatorEnvironments, RemovalRefused } from "../../../ports/environments.ts";
import { environmentType } from "../kinds.ts";
import { keptRest, type Store } from "../store.ts";
import { complete, forUser } from "../user-request.ts";
import { countNow, reread } from "./lookup.ts";

/** What reading and deleting environments takes. */
type Context = Pick<Store<EphemeralEnvironment>, "client" | "cache" | "deletions">;

/** The OperatorEnvironments port on the Kubernetes API and this process's watch cache. */
export function operatorEnvironments(context: Context): OperatorEnvironments {
  return {
    list: () => complete(context.cache).list(),
    countNow: (isMeant) => forUser(() => countNow(context.client, isMeant)),
    remove: (environment, options) => forUser(() => remove(context, environment, options?.onlyThisVersion ?? false)),
  };
}

async function remove(
  { client, cache, deletions }: Context,
  environment: EphemeralEnvironment,
  onlyThisVersion: boolean,
): Promise<"removing" | "changed"> {
  const { name, uid, resourceVersion } = environment.metadata;
  const preconditions = { uid, ...(onlyThisVersion ? { resourceVersion } : {}) };
  const ask = () =>
    // Only the call, whose refusals reject: otherwise a later deletion by somebody else would pass for ours.
    deletions
      .during(uid, () => client.delete(environmentType, { name }, preconditions))
      .catch((error: unknown) => refusedRemoval(client, environment, { error, onlyThisVersion }));
  const left = await retryOnConflict(ask);
  if (left === "conflict") return onlyThisVersion ? "changed" : "removing";
  keptRest(cache, environment, left);
  return "removing";
}

/**
 * Finds out by a fresh read what a refusal means. A conflict: ours may be gone, and its name another one's. A 403: it may
 * be protected; missing rights and other policies answer 403, too.
 */
async function refusedRemoval(
  client: KubeClient,
  environment: EphemeralEnvironment,
  { error, onlyThisVersion }: { error: unknown; onlyThisVersion: boolean },
): Promise<"conflict"> {
  if (isConflict(error) && onlyThisVersion) return "conflict";
  // A ValidatingAdmissionPolicy answers 422 by default, a webhook 403 or 400.
  if (isInvalid(error)) throw refused(error);
  if (!isConflict(error) && !isForbidden(error)) throw error;
  const current = await reread(client, environment);
  if (current === undefined) return "conflict";
  if (isConflict(error)) throw error;
  if (!current.spec.protected) throw refused(error);
  throw new EnvironmentConflict("The environment is protected: remove the protection first", { cause: error });
}

function refused(cause: unknown): RemovalRefused {
  const error = cause as KubeError;
  return new RemovalRefused(error.detail() || error.message, { cause });
}
