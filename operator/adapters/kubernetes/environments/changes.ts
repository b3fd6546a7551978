import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import { isUnavailable } from "../../../kit/client/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { retryOnConflict } from "../../../kit/client/retry-on-conflict.ts";
import { type AuditId, auditAnnotations } from "../audit-annotation.ts";
import { environmentType } from "../kinds.ts";
import { goneIsNotFound, reread } from "./lookup.ts";

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<EphemeralEnvironment>;
  readonly auditId?: AuditId | undefined;
}

/** What a change merges into an environment. */
export interface Change {
  /** `null` removes an annotation. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly spec: Partial<EnvironmentSpec>;
  /** Throws where the change must not be made to this version. */
  readonly check?: (current: EphemeralEnvironment) => void;
}

/**
 * Merges changes into living environments, each on a version that was read. Those of one environment go one after the
 * other, on what the one before has made: at the same moment they would take each other's version away until their
 * attempts are used up.
 */
export function environmentChanges(context: Context) {
  const last = new Map<string, Promise<EphemeralEnvironment>>();
  return (environment: EphemeralEnvironment, change: Change): Promise<EphemeralEnvironment> => {
    const { uid } = environment.metadata;
    const before = last.get(uid) ?? Promise.resolve(environment);
    const changing = before.then(
      (latest) => merge(context, latest, change),
      (error: unknown) => {
        // A change does not wait in line for an API server that does not answer.
        if (isUnavailable(error)) throw error;
        return merge(context, environment, change);
      },
    );
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
  { annotations, spec, check }: Change,
): Promise<EphemeralEnvironment> {
  const { name } = environment.metadata;
  return retryOnConflict(async (round) => {
    const current = round === 1 ? environment : await reread(client, environment);
    if (current === undefined) throw new EnvironmentNotFound();
    if (current.metadata.deletionTimestamp !== undefined) {
      throw new EnvironmentConflict("The environment is being deleted");
    }
    check?.(current);
    const { resourceVersion } = current.metadata;
    const stamped = { ...annotations, ...auditAnnotations(auditId) };
    const patch = { metadata: { resourceVersion, annotations: stamped }, spec };
    const changed = await client.patch(environmentType, { name }, patch, { as: "merge" }).catch(goneIsNotFound);
    cache.written(changed);
    return changed;
  });
}
