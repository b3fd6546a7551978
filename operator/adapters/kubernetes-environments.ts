import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentManifest,
} from "../../crds/ephemeral-environment.ts";
import {
  ClusterUnavailable,
  CreationFailed,
  EnvironmentConflict,
  EnvironmentNotFound,
  NameExists,
} from "../../crds/errors.ts";
import { EXTENSION_NOTE_ANNOTATION } from "../../crds/group.ts";
import { isUuid } from "../../crds/names.ts";
import { BY_UID } from "../caches.ts";
import { environmentType } from "../kinds.ts";
import type { Clock } from "../kit/clock.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { isAlreadyExists, isConflict, isForbidden, isNotFound } from "../kit/kube-errors.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import { retryOnConflict } from "../kit/retry-on-conflict.ts";
import type { Environments, Extension } from "../ports/environments.ts";
import { liveLookUp } from "./environment-look-up.ts";
import { translated, UNAVAILABLE_RETRY_SECONDS } from "./user-call.ts";

/** A terminating environment is usually gone within this time. */
const TERMINATING_RETRY_SECONDS = 10;

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<EphemeralEnvironment>;
  readonly clock: Clock;
}

/** The Environments port on the Kubernetes API and this process's watch cache. */
export function kubernetesEnvironments(context: Context): Environments {
  const lookUp = liveLookUp(context);
  return {
    list() {
      if (!context.cache.synced) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
      return [...context.cache.list()];
    },
    find: (idOrName) =>
      translated(async () => {
        const known = cachedEnvironment(context.cache, idOrName);
        if (known !== undefined) return known;
        if (!context.cache.synced) throw new ClusterUnavailable(UNAVAILABLE_RETRY_SECONDS);
        return lookUp(idOrName);
      }),
    create: (name, spec) => translated(() => create(context, name, spec)),
    extend: (environment, extension) => translated(() => change(context, environment, extensionOf(extension))),
    turn: (environment, switches) => translated(() => change(context, environment, { spec: switches })),
    remove: (environment, options) => translated(() => remove(context, environment, options?.onlyThisVersion ?? false)),
  };
}

function cachedEnvironment(cache: ObjectCache<EphemeralEnvironment>, idOrName: string) {
  return isUuid(idOrName) ? cache.by(BY_UID, idOrName)[0] : cache.get(idOrName);
}

async function create({ client, cache }: Context, name: string, spec: EnvironmentSpec): Promise<EphemeralEnvironment> {
  try {
    const created = await client.create(environmentType, environmentManifest(name, spec));
    cache.written(created);
    return created;
  } catch (error) {
    if (isAlreadyExists(error)) {
      const holder = cache.get(name) ?? (await client.find(environmentType, { name }));
      const leaving = holder?.metadata.deletionTimestamp !== undefined;
      throw new NameExists(name, leaving ? TERMINATING_RETRY_SECONDS : undefined);
    }
    if (isForbidden(error)) throw new CreationFailed({ cause: error });
    throw error;
  }
}

/** What a change merges into an environment. */
interface Change {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec: Partial<EnvironmentSpec>;
}

/** Merges a change into a living environment, on a version that was read. */
async function change(
  { client, cache }: Context,
  environment: EphemeralEnvironment,
  { annotations, spec }: Change,
): Promise<EphemeralEnvironment> {
  const { name } = environment.metadata;
  return retryOnConflict(async (round) => {
    const current = round === 1 ? environment : await reread(client, environment);
    if (current.metadata.deletionTimestamp !== undefined) {
      throw new EnvironmentConflict("The environment is being deleted");
    }
    const { resourceVersion } = current.metadata;
    const patch = { metadata: { resourceVersion, ...(annotations ? { annotations } : {}) }, spec };
    const changed = await client.patch(environmentType, { name }, patch, { as: "merge" }).catch(goneIsNotFound);
    cache.written(changed);
    return changed;
  });
}

function goneIsNotFound(error: unknown): never {
  throw isNotFound(error) ? new EnvironmentNotFound() : error;
}

function extensionOf({ ttlHours, note }: Extension): Change {
  return { spec: { ttlHours }, ...(note === undefined ? {} : { annotations: { [EXTENSION_NOTE_ANNOTATION]: note } }) };
}

async function reread(client: KubeClient, { metadata }: EphemeralEnvironment): Promise<EphemeralEnvironment> {
  const current = await client.find(environmentType, { name: metadata.name });
  if (current?.metadata.uid !== metadata.uid) throw new EnvironmentNotFound();
  return current;
}

async function remove(
  { client, cache }: Context,
  environment: EphemeralEnvironment,
  onlyThisVersion: boolean,
): Promise<"removing" | "changed"> {
  const { name, uid, resourceVersion } = environment.metadata;
  const preconditions = { uid, ...(onlyThisVersion ? { resourceVersion } : {}) };
  const left = await retryOnConflict(() =>
    client
      .delete(environmentType, { name }, preconditions)
      .catch((error: unknown) => refusedRemoval(client, environment, { error, onlyThisVersion })),
  );
  if (left === "conflict") return onlyThisVersion ? "changed" : "removing";
  if (left === "gone") cache.deleted(environment);
  else cache.written(left);
  return "removing";
}

/**
 * Only a fresh look tells what a refusal means. A conflict: whether ours is gone and its name belongs to another. A 403:
 * whether it is protected; missing rights and other people's policies answer that too.
 */
async function refusedRemoval(
  client: KubeClient,
  { metadata }: EphemeralEnvironment,
  { error, onlyThisVersion }: { error: unknown; onlyThisVersion: boolean },
): Promise<"conflict"> {
  if (isConflict(error) && onlyThisVersion) return "conflict";
  if (!isConflict(error) && !isForbidden(error)) throw error;
  const current = await client.find(environmentType, { name: metadata.name });
  if (current?.metadata.uid !== metadata.uid) return "conflict";
  if (isConflict(error) || !current.spec.protected) throw error;
  throw new EnvironmentConflict("The environment is protected: remove the protection first", { cause: error });
}
