import type { EnvironmentSpec, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { EnvironmentConflict, EnvironmentNotFound } from "../../../../crds/errors.ts";
import { isNotFound, isUnavailable } from "../../../kit/client/errors.ts";
import { retryOnConflict } from "../../../kit/client/retries.ts";
import type { EnvironmentUpdate } from "../../../ports/api/environments.ts";
import { environmentType } from "../kinds.ts";
import { changePatch, kept, type Store } from "../store.ts";
import { reread } from "./lookup.ts";

type Context = Pick<Store<EphemeralEnvironment>, "client" | "cache" | "auditId" | "traceparent">;

/** A merge into an environment. */
export interface Change {
  /** `null` removes an annotation. */
  readonly annotations?: Readonly<Record<string, string | null>>;
  readonly spec: EnvironmentUpdate & Pick<EnvironmentSpec, "ttlHours">;
  /** Throws when the change must not apply to this version. */
  readonly check?: (current: EphemeralEnvironment) => void;
}

/**
 * Merges changes into existing environments, each on the version read. Changes of one environment run one by one:
 * concurrent ones would conflict until their attempts are used up.
 */
export function environmentChanges(context: Context) {
  const last = new Map<string, Promise<EphemeralEnvironment>>();
  return (environment: EphemeralEnvironment, change: Change): Promise<EphemeralEnvironment> => {
    const { uid } = environment.metadata;
    const before = last.get(uid) ?? Promise.resolve(environment);
    const changing = before.then(
      (latest) => merge(context, latest, change),
      (error: unknown) => {
        // A change does not queue for an unresponsive API server.
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
 * Merges the result of `patchOf` into the latest version, stamped with the audit record; answers the unchanged
 * environment without one.
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
