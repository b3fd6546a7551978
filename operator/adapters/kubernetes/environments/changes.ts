import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import { isNotFound, isUnavailable } from "../../../kit/client/errors.ts";
import { retryOnConflict } from "../../../kit/client/retry-on-conflict.ts";
import type { EnvironmentUpdate } from "../../../ports/facade/environments.ts";
import { environmentType } from "../kinds.ts";
import { changePatch, kept, type Store } from "../store.ts";
import { reread } from "./lookup.ts";

type Context = Pick<Store<EphemeralEnvironment>, "client" | "cache" | "auditId" | "traceparent">;

/** What a change merges into an environment. */
export interface Change {
  /** `null` removes an annotation. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly spec: EnvironmentUpdate & Pick<EnvironmentSpec, "ttlHours">;
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

function merge(context: Context, environment: EphemeralEnvironment, change: Change) {
  return patchLatest(context, environment, (latest) => {
    const { metadata } = latest;
    if (metadata.deletionTimestamp !== undefined) throw new EnvironmentConflict("The environment is being deleted");
    change.check?.(latest);
    return change;
  });
}

/**
 * Merges what `patchOf` makes of the latest version into it, stamped with the audit record; the environment as it was
 * found when it makes nothing.
 *
 * @throws EnvironmentNotFound when it is gone
 */
export async function patchLatest(
  context: Context,
  environment: EphemeralEnvironment,
  patchOf: (latest: EphemeralEnvironment) => Partial<Change> | undefined,
): Promise<EphemeralEnvironment> {
  const { client, cache } = context;
  const { name } = environment.metadata;
  return retryOnConflict(async (round) => {
    const current = round === 1 ? environment : await reread(client, environment);
    if (current === undefined) throw new EnvironmentNotFound();
    const patch = patchOf(current);
    if (patch === undefined) return current;
    const { resourceVersion } = current.metadata;
    const metadata = { resourceVersion, annotations: { ...patch.annotations, ...changePatch(context) } };
    const changed = await client
      .patch(environmentType, { name }, { metadata, spec: patch.spec }, { as: "merge" })
      .catch((error: unknown) => {
        throw isNotFound(error) ? new EnvironmentNotFound() : error;
      });
    return kept(cache, changed);
  });
}
