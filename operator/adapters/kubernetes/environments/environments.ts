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
import { expiresAt } from "../../../../crds/environment/lifetime.ts";
import { managedBy, writtenFromGit } from "../../../../crds/environment/managed-by.ts";
import { specFields } from "../../../../crds/environment/owned-fields.ts";
import { CreationFailed, EnvironmentConflict, NameExists } from "../../../../crds/errors.ts";
import { AUDIT_ID_ANNOTATION, EXTENSION_NOTE_ANNOTATION, WAKE_ANNOTATION } from "../../../../crds/group.ts";
import { isUuid } from "../../../../crds/names.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import { isAlreadyExists, isForbidden, isUnanswered } from "../../../kit/client/errors.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import type { EnvironmentChange, Environments, EnvironmentUpdate, Extension } from "../../../ports/api/environments.ts";
import { BY_CREATION_KEY, BY_UID } from "../../../ports/caches.ts";
import type { LeftFields } from "../../../ports/deployer.ts";
import { environmentType } from "../kinds.ts";
import { changeAnnotations, kept } from "../store.ts";
import { complete, forUser } from "../user-request.ts";
import {
  type Change,
  type EnvironmentStore,
  environmentChanges,
  recordActivity,
  requestedReconciles,
} from "./changes.ts";
import { EnvironmentDirectory } from "./directory.ts";
import { liveLookUp, reread } from "./lookup.ts";
import { operatorEnvironments } from "./operator-environments.ts";

/** A terminating environment is usually gone within this time. */
const TERMINATING_RETRY_SECONDS = 10;
/** The client has waited long already. */
const LOOK_AGAIN_MS = 1_000;

/** Environments port on the Kubernetes API and the watch cache; without `leftFields` a GitOps tool leaves none alone. */
export function kubernetesEnvironments(store: EnvironmentStore & { readonly leftFields?: LeftFields }): Environments {
  const { client, cache, clock, leftFields = async () => false } = store;
  const lookUp = liveLookUp(store);
  const requestReconcile = requestedReconciles(store);
  const applyChange = environmentChanges(store);
  const change = (environment: EphemeralEnvironment, requested: Change) =>
    forUser(async () => {
      await assertLasting({ client, leftFields }, environment, requested.spec);
      return applyChange(environment, requested);
    });
  // Created with the first requested page.
  let directory: EnvironmentDirectory | undefined;
  return {
    ...operatorEnvironments(store),
    page(query) {
      directory ??= new EnvironmentDirectory(complete(cache));
      return directory.page(query);
    },
    changes: (signal) => followedChanges(complete(cache), signal),
    find: (idOrName) =>
      forUser(async () => {
        const known = isUuid(idOrName) ? cache.by(BY_UID, idOrName)[0] : cache.get(idOrName);
        if (known !== undefined) return known;
        complete(cache);
        return lookUp(idOrName);
      }),
    madeWith: (key) => cache.by(BY_CREATION_KEY, key).find((one) => answersKey(one, key, clock.now())),
    create: (name, spec, mark) => forUser(() => create(store, name, spec, mark)),
    extend: (environment, extension) => change(environment, extensionOf(extension)),
    update: (environment, update) => change(environment, { spec: update, ...waking(update, clock) }),
    recordActivity: (environment) => forUser(() => recordActivity(store, environment)),
    reconcile: (environment, options) => forUser(() => requestReconcile(environment, options)),
  };
}

async function create(
  store: EnvironmentStore,
  name: string,
  spec: EnvironmentSpec,
  mark: IdempotencyRecord | undefined,
): Promise<EphemeralEnvironment> {
  const annotations = { ...changeAnnotations(store), ...(mark && markAnnotations(mark)) };
  const manifest = environmentManifest(name, spec, annotations);
  try {
    const created = await store.client
      .create(environmentType, manifest)
      .catch((error: unknown) => madeUnanswered(store, name, error));
    return kept(store.cache, created);
  } catch (error) {
    if (isAlreadyExists(error)) return madeBefore(store, name, mark);
    if (isForbidden(error)) throw new CreationFailed({ cause: error });
    throw error;
  }
}

/** The environment that this unanswered request created, by its audit id; else throws: a retry finds the name taken. */
async function madeUnanswered(
  { client, auditId }: EnvironmentStore,
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

/** The environment of that name, when the response to an earlier attempt of this request got lost; else NameExists. */
async function madeBefore(
  { client, cache, clock }: EnvironmentStore,
  name: string,
  mark: IdempotencyRecord | undefined,
): Promise<EphemeralEnvironment> {
  // The cache may still have a former environment of the name.
  const known = mark === undefined ? cache.get(name) : undefined;
  const holder = known ?? (await client.find(environmentType, { name }));
  if (holder !== undefined && mark !== undefined && answersKey(holder, mark.key, clock.now())) return holder;
  const isLeaving = holder?.metadata.deletionTimestamp !== undefined;
  throw new NameExists(name, isLeaving ? TERMINATING_RETRY_SECONDS : undefined);
}

/** Change of an extension; removes the reason of a former one. */
function extensionOf({ ttlHours, note, onlyFrom }: Extension): Change {
  return {
    spec: { ttlHours },
    annotations: { [EXTENSION_NOTE_ANNOTATION]: note ?? null },
    check(current) {
      if (onlyFrom === undefined || expiresAt(current).getTime() === onlyFrom.getTime()) return;
      throw new EnvironmentConflict("The environment's TTL was changed meanwhile");
    },
  };
}

/** A request to wake it, which only an environment that its schedule, or idleness, has asleep heeds. */
function waking({ suspended }: EnvironmentUpdate, clock: Clock): Pick<Change, "annotations"> {
  return suspended === false ? { annotations: { [WAKE_ANNOTATION]: clock.now().toISOString() } } : {};
}

/** Changes from this call on, see `Environments.changes`; the queue is bounded by the number of environments. */
export function followedChanges(
  cache: Pick<ObjectCache<EphemeralEnvironment>, "subscribe">,
  signal: AbortSignal,
): AsyncGenerator<readonly EnvironmentChange[], undefined> {
  const waiting = new Map<string, EnvironmentChange>();
  let wake = Promise.withResolvers<void>();
  const unsubscribe = cache.subscribe((_key, current, previous) => {
    const { uid, name } = ((current ?? previous) as EphemeralEnvironment).metadata;
    const earlier = waiting.get(uid);
    waiting.set(uid, { id: uid, name, current, previous: earlier === undefined ? previous : earlier.previous });
    wake.resolve();
  });
  // Also for a reader that never began.
  const end = () => {
    unsubscribe();
    wake.resolve();
  };
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return (async function* () {
    try {
      while (!signal.aborted) {
        if (waiting.size === 0) await wake.promise;
        wake = Promise.withResolvers();
        const batch = [...waiting.values()];
        waiting.clear();
        if (batch.length > 0) yield batch;
      }
      return undefined;
    } finally {
      signal.removeEventListener("abort", end);
      unsubscribe();
    }
  })();
}

const TOOLS = { argocd: "Argo CD", flux: "Flux" } as const;

/**
 * Refuses a change that Git would revert within seconds: of a field in the manifest that the GitOps tool does not leave
 * alone.
 *
 * @throws EnvironmentConflict which says where to change it
 */
async function assertLasting(
  { client, leftFields }: Pick<EnvironmentStore, "client"> & { readonly leftFields: LeftFields },
  environment: EphemeralEnvironment,
  requested: Change["spec"],
): Promise<void> {
  const tool = managedBy(environment);
  if (tool === undefined) return;
  // Caches drop `managedFields`.
  const fresh = await reread(client, environment);
  if (fresh === undefined) return;
  const fields = specFields(writtenFromGit(fresh));
  for (const { path, value } of valuesOf(requested)) {
    const isChanged = (at(fresh.spec, path) ?? null) !== value;
    const managed = path.map((field) => `f:${field}`);
    if (!isChanged || at(fields, managed) === undefined || (await leftFields(fresh, path.join("/")))) continue;
    throw new EnvironmentConflict(
      `spec.${path.join(".")} comes from Git, and ${TOOLS[tool]} would take the change back: change it in the manifest, or take it out there`,
    );
  }
}

/** Values of a change, each with its path below the spec. */
function valuesOf(change: object, above: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  return Object.entries(change).flatMap(([field, value]) => {
    const path = [...above, field];
    if (value === undefined) return [];
    return typeof value === "object" && value !== null ? valuesOf(value, path) : [{ path, value }];
  });
}

function at(object: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, field) => (found as Record<string, unknown> | undefined)?.[field], object);
}
