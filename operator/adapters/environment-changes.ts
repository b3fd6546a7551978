import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/ephemeral-environment.ts";
import { EnvironmentConflict, EnvironmentNotFound } from "../../crds/errors.ts";
import { environmentType } from "../kinds.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { isUnavailable } from "../kit/kube-errors.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import { retryOnConflict } from "../kit/retry-on-conflict.ts";
import { type AuditId, auditAnnotations } from "./audit-stamp.ts";
import { goneIsNotFound, reread } from "./environment-look-up.ts";

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<EphemeralEnvironment>;
  readonly auditId?: AuditId;
}

/** What a change merges into an environment. */
export interface Change {
  /** What is `null` goes. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly spec: Partial<EnvironmentSpec>;
}

/**
 * Merges changes into living environments, each on a version that was read. Those of one environment go one after the
 * other: at the same moment they would take each other's version away until their attempts are used up.
 */
export function environmentChanges(context: Context) {
  const last = new Map<string, Promise<unknown>>();
  return (environment: EphemeralEnvironment, change: Change): Promise<EphemeralEnvironment> => {
    const { uid } = environment.metadata;
    const work = () => merge(context, environment, change);
    const changing = (last.get(uid) ?? Promise.resolve()).then(work, (error: unknown) => {
      // Nobody waits in line for an API server that does not answer.
      if (isUnavailable(error)) throw error;
      return work();
    });
    last.set(uid, changing);
    const forget = () => {
      if (last.get(uid) === changing) last.delete(uid);
    };
    changing.then(forget, forget);
    return changing;
  };
}

async function merge(
  { client, cache, auditId }: Context,
  environment: EphemeralEnvironment,
  { annotations, spec }: Change,
): Promise<EphemeralEnvironment> {
  const { name, uid } = environment.metadata;
  return retryOnConflict(async (round) => {
    const known = cache.get(name);
    // Whoever was before in line has left its version here.
    const latest = known?.metadata.uid === uid ? known : environment;
    const current = round === 1 ? latest : await reread(client, environment);
    if (current === undefined) throw new EnvironmentNotFound();
    if (current.metadata.deletionTimestamp !== undefined) {
      throw new EnvironmentConflict("The environment is being deleted");
    }
    const { resourceVersion } = current.metadata;
    const stamped = { ...annotations, ...auditAnnotations(auditId) };
    const patch = { metadata: { resourceVersion, annotations: stamped }, spec };
    const changed = await client.patch(environmentType, { name }, patch, { as: "merge" }).catch(goneIsNotFound);
    cache.written(changed);
    return changed;
  });
}
