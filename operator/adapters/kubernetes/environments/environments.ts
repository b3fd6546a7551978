import {
  type EnvironmentSpec,
  type EphemeralEnvironment,
  environmentManifest,
} from "../../../../crds/environment/ephemeral-environment.ts";
import {
  answersKey,
  type IdempotencyRecord,
  markAnnotations,
} from "../../../../crds/environment/idempotency-record.ts";
import { CreationFailed, EnvironmentConflict, NameExists } from "../../../../crds/errors.ts";
import { AUDIT_ID_ANNOTATION, EXTENSION_NOTE_ANNOTATION } from "../../../../crds/group.ts";
import { isUuid } from "../../../../crds/names.ts";
import { type OwnDeletions, ownDeletions } from "../../../audit/own-deletions.ts";
import { environmentType } from "../../../kinds.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isInvalid,
  isUnanswered,
  type KubeError,
} from "../../../kit/client/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import { retryOnConflict } from "../../../kit/client/retry-on-conflict.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import { type Environments, type Extension, RemovalRefused } from "../../../ports/environments.ts";
import { BY_CREATION_KEY, BY_UID } from "../../../wiring/caches.ts";
import { type AuditId, auditAnnotations } from "../audit-annotation.ts";
import { complete, translated } from "../user-request.ts";
import { type Change, environmentChanges } from "./changes.ts";
import { EnvironmentDirectory } from "./directory.ts";
import { countNow, liveLookUp, reread } from "./lookup.ts";
import { requestedReconciles } from "./requested-reconciles.ts";

/** A terminating environment is usually gone within this time. */
const TERMINATING_RETRY_SECONDS = 10;
/** Whoever waits for an answer has waited long already. */
const LOOK_AGAIN_MS = 1_000;

interface Context {
  readonly client: KubeClient;
  readonly cache: ObjectCache<EphemeralEnvironment>;
  readonly clock: Clock;
  /** Given: what is written names the record of the request that has it written. */
  readonly auditId?: AuditId;
  /** Remembers what is deleted here. */
  readonly deletions?: OwnDeletions;
}

/** The Environments port on the Kubernetes API and this process's watch cache. */
export function kubernetesEnvironments(context: Context): Environments {
  const lookUp = liveLookUp(context);
  const askForPass = requestedReconciles(context);
  const change = environmentChanges(context);
  // Made when it is asked for the first time: the operator's own side never asks.
  let directory: EnvironmentDirectory | undefined;
  return {
    list: () => complete(context.cache).list(),
    page(query) {
      directory ??= new EnvironmentDirectory(complete(context.cache));
      return directory.page(query);
    },
    find: (idOrName) =>
      translated(async () => {
        const known = cachedEnvironment(context.cache, idOrName);
        if (known !== undefined) return known;
        complete(context.cache);
        return lookUp(idOrName);
      }),
    countNow: (isMeant) => translated(() => countNow(context.client, isMeant)),
    madeWith: (key) => context.cache.by(BY_CREATION_KEY, key).find((one) => answersKey(one, key, context.clock.now())),
    create: (name, spec, mark) => translated(() => create(context, { name, spec, mark })),
    reread: (environment) => translated(() => reread(context.client, environment)),
    extend: (environment, extension) => translated(() => change(environment, extensionOf(extension))),
    setSwitches: (environment, switches) => translated(() => change(environment, { spec: switches })),
    reconcile: (environment, options) => translated(() => askForPass(environment, options)),
    remove: (environment, options) => translated(() => remove(context, environment, options?.onlyThisVersion ?? false)),
  };
}

function cachedEnvironment(cache: ObjectCache<EphemeralEnvironment>, idOrName: string) {
  return isUuid(idOrName) ? cache.by(BY_UID, idOrName)[0] : cache.get(idOrName);
}

interface Creation {
  readonly name: string;
  readonly spec: EnvironmentSpec;
  readonly mark: IdempotencyRecord | undefined;
}

async function create(context: Context, { name, spec, mark }: Creation): Promise<EphemeralEnvironment> {
  const { client, cache } = context;
  const annotations = { ...auditAnnotations(context.auditId), ...(mark && markAnnotations(mark)) };
  const manifest = environmentManifest(name, spec, annotations);
  try {
    const created = await client
      .create(environmentType, manifest)
      .catch((error: unknown) => madeUnanswered(context, name, error));
    cache.written(created);
    return created;
  } catch (error) {
    if (isAlreadyExists(error)) return madeBefore(context, name, mark);
    if (isForbidden(error)) throw new CreationFailed({ cause: error });
    throw error;
  }
}

/**
 * The environment that this very request has made although no answer came, known by the id of its record; throws the
 * failure when there is none. Whoever tried again would be told that the name is taken.
 */
async function madeUnanswered(
  { client, auditId }: Context,
  name: string,
  failure: unknown,
): Promise<EphemeralEnvironment> {
  const id = auditId?.();
  if (id === undefined || !isUnanswered(failure)) throw failure;
  const look = { signal: AbortSignal.timeout(LOOK_AGAIN_MS) };
  const found = await client.find(environmentType, { name }, look).catch(() => undefined);
  if (found?.metadata.annotations?.[AUDIT_ID_ANNOTATION] !== id) throw failure;
  return found;
}

/** Whose name it is: ours, when the answer to an earlier attempt got lost. */
async function madeBefore(
  { client, cache, clock }: Context,
  name: string,
  mark: IdempotencyRecord | undefined,
): Promise<EphemeralEnvironment> {
  // The cache may still hold one that had the name before.
  const known = mark === undefined ? cache.get(name) : undefined;
  const holder = known ?? (await client.find(environmentType, { name }));
  if (holder !== undefined && mark !== undefined && answersKey(holder, mark.key, clock.now())) return holder;
  const isLeaving = holder?.metadata.deletionTimestamp !== undefined;
  throw new NameExists(name, isLeaving ? TERMINATING_RETRY_SECONDS : undefined);
}

/** The reason of a former extension is none of this one. */
function extensionOf({ ttlHours, note }: Extension): Change {
  return { spec: { ttlHours }, annotations: { [EXTENSION_NOTE_ANNOTATION]: note ?? null } };
}

async function remove(
  { client, cache, deletions = ownDeletions() }: Context,
  environment: EphemeralEnvironment,
  onlyThisVersion: boolean,
): Promise<"removing" | "changed"> {
  const { name, uid, resourceVersion } = environment.metadata;
  const preconditions = { uid, ...(onlyThisVersion ? { resourceVersion } : {}) };
  const ask = () =>
    // The call alone, whose refusals reject: else what somebody else deletes later would pass for ours.
    deletions
      .during(uid, () => client.delete(environmentType, { name }, preconditions))
      .catch((error: unknown) => refusedRemoval(client, environment, { error, onlyThisVersion }));
  const left = await retryOnConflict(ask);
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
  environment: EphemeralEnvironment,
  { error, onlyThisVersion }: { error: unknown; onlyThisVersion: boolean },
): Promise<"conflict"> {
  if (isConflict(error) && onlyThisVersion) return "conflict";
  // Admission refuses as it likes: a policy says 422 unless it is told otherwise, a webhook 403 or 400.
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
