import { ENVIRONMENT_UID_LABEL, type Kind, ownerLabels } from "../../../crds/group.ts";
import {
  insteadOf,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  isTestFailed,
  KubeError,
} from "../../kit/client/errors.ts";
import { namespaceKind, roleBindingKind, type WireObject } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { keyOfRef, type ObjectRef, refOf } from "../../kit/client/objects.ts";
import { retryOnConflict } from "../../kit/client/retries.ts";
import { type Clock, pause } from "../../kit/time/clock.ts";
import type { OwnedCaches } from "../../ports/caches.ts";
import {
  BeingDeleted,
  type Blocker,
  type Cluster,
  type DesiredObject,
  NameTaken,
  type ObservedObject,
  type Owner,
  type Removal,
} from "../../ports/cluster.ts";
import { drift } from "./drift.ts";
import { removeFinalizers } from "./status-writer.ts";
import { keptRest, pointerOf, sameObject } from "./store.ts";

/** Time until the API server's authorizer knows our new RoleBinding. */
const FRESH_RIGHT_MS = 2_000;
const FRESH_RIGHT_RETRY_MS = 20;

interface ClusterOptions {
  readonly client: KubeClient;
  /** Objects of other kinds are read afresh. */
  readonly watched: OwnedCaches;
  readonly clock: Clock;
}

interface ClusterContext extends ClusterOptions {
  readonly rights: FreshRights;
  /** UIDs of objects older than their namespace that the API server has answered with: clocks of API servers differ. */
  readonly confirmed: Set<string>;
}

/** Cluster port: creates by POST, repairs by patch, adopts only objects that Kubernetes creates in our namespaces. */
export function kubernetesCluster(options: ClusterOptions): Cluster {
  const { client, watched } = options;
  const context: ClusterContext = { ...options, rights: freshRights(options.clock), confirmed: new Set() };
  const cached = (kind: Kind, ref: ObjectRef) => watched.get(kind.plural)?.get(keyOfRef(ref));
  const current = (kind: Kind, ref: ObjectRef) => {
    const known = cached(kind, ref);
    return known !== undefined && isBygone(context, known) ? undefined : known;
  };
  const fresh = (kind: Kind, ref: ObjectRef) =>
    context.rights.during(ref.namespace, () => client.find<WireObject>(kind, ref));

  return {
    async ensure(owner, kind, desired) {
      const own = labelled(owner, desired);
      const known = current(kind, own.metadata);
      if (known !== undefined) return repair(context, kind, own, known);
      if ((await create(context, kind, own)) === "created") return "created";
      // The name is taken, by ourselves before a crash or by another writer: only a fresh read can decide.
      const stored = await fresh(kind, own.metadata);
      if (stored === undefined) throw new BeingDeleted(`${kind.kind} '${own.metadata.name}' went away just now`);
      if (owned(owner, stored) !== undefined) confirm(context, kind, stored);
      return repair(context, kind, own, stored);
    },

    async adopt(owner, kind, desired) {
      const { name, namespace = "" } = desired.metadata;
      const place = cached(namespaceKind, { name: namespace }) ?? (await fresh(namespaceKind, { name: namespace }));
      if (owned(owner, place) === undefined) throw new NameTaken(kind.kind, name);
      const own = labelled(owner, desired);
      const known = current(kind, desired.metadata);
      if (known !== undefined && drift(own, known).length === 0) return "unchanged";
      // One write for a missing or existing object: Kubernetes creates it at the same time.
      const write = client.patch<WireObject>(kind, own.metadata, own, { as: "apply" });
      const written = await write.catch((error: unknown) => {
        throw failureOf(error, kind, own);
      });
      confirm(context, kind, written);
      return "written";
    },

    async overwrite(owner, kind, desired) {
      await client.patch<WireObject>(kind, desired.metadata, labelled(owner, desired), { as: "apply" });
    },

    async discard(owner, kind, ref) {
      // A patch that changes nothing answers with the object, which a read may not.
      const isOwners = { op: "test", path: `/metadata/labels/${pointerOf(ENVIRONMENT_UID_LABEL)}`, value: owner.uid };
      const found = await client
        .patch<WireObject>(kind, ref, [isOwners], { as: "json" })
        .catch(insteadOf((error) => isNotFound(error) || isTestFailed(error), undefined));
      if (found === undefined) return { state: "gone" };
      if (found.metadata.deletionTimestamp !== undefined) return removing(kind, found);
      return startRemoval(context, kind, found, { uid: found.metadata.uid });
    },

    observe(owner, kind, ref) {
      return owned(owner, cached(kind, ref));
    },

    async read(owner, kind, ref) {
      return owned(owner, await fresh(kind, ref));
    },

    async remove(owner, kind, ref, seen) {
      const found = seen ?? owned(owner, await fresh(kind, ref));
      if (found === undefined) return { state: "gone" };
      if (found.metadata.deletionTimestamp !== undefined) return removing(kind, found);
      const { uid, resourceVersion } = found.metadata;
      context.confirmed.delete(uid);
      return startRemoval(context, kind, found as WireObject, seen === undefined ? { uid } : { uid, resourceVersion });
    },

    async change(owner, kind, ref, patch) {
      const found = owned(owner, cached(kind, ref) ?? (await fresh(kind, ref)));
      if (found === undefined) return "overtaken";
      const change = client.patch<WireObject>(kind, ref, [sameObject(found.metadata), ...patch], { as: "json" });
      const changed = await change.catch(insteadOf(isTestFailed, undefined));
      if (changed !== undefined) show(context, kind, changed);
      return changed === undefined ? "overtaken" : "changed";
    },

    async release(owner, kind, ref, removable) {
      const store = { client, cache: watched.get(kind.plural) };
      // A deletion is changed by others, too, and the caller may not come again.
      await retryOnConflict(async () => {
        const found = owned(owner, await fresh(kind, ref));
        if (found !== undefined) await removeFinalizers(store, kind, found as WireObject, removable);
      });
    },
  };
}

/** Shows a write at once, where the kind is watched. */
function show({ watched }: ClusterContext, kind: Kind, written: WireObject): void {
  watched.get(kind.plural)?.written(written);
}

/**
 * True when it was deleted with a former namespace of the same name: one kind's watch may lag behind another's, and
 * show the former namespace's objects in the new one.
 */
function isBygone({ watched, confirmed }: ClusterContext, { metadata }: WireObject): boolean {
  if (confirmed.has(metadata.uid)) return false;
  const namespace = watched.get(namespaceKind.plural)?.get(metadata.namespace ?? "");
  return namespace !== undefined && metadata.creationTimestamp < namespace.metadata.creationTimestamp;
}

/** Caches an object that the API server has just answered with, and its existence, however old it seems. */
function confirm(context: ClusterContext, kind: Kind, stored: WireObject): void {
  show(context, kind, stored);
  if (isBygone(context, stored)) context.confirmed.add(stored.metadata.uid);
}

function labelled(owner: Owner, desired: DesiredObject): DesiredObject {
  const labels = { ...desired.metadata.labels, ...ownerLabels(owner) };
  return { ...desired, metadata: { ...desired.metadata, labels } };
}

function owned(owner: Owner, object: WireObject | undefined): ObservedObject | undefined {
  return object?.metadata.labels?.[ENVIRONMENT_UID_LABEL] === owner.uid ? (object as ObservedObject) : undefined;
}

async function create(context: ClusterContext, kind: Kind, own: DesiredObject): Promise<"created" | "taken"> {
  const { namespace } = own.metadata;
  const { client, rights } = context;
  try {
    show(context, kind, await rights.during(namespace, () => client.create<WireObject>(kind, own)));
    if (kind.plural === roleBindingKind.plural && namespace !== undefined) rights.bound(namespace);
    return "created";
  } catch (error) {
    if (isAlreadyExists(error)) return "taken";
    throw failureOf(error, kind, own);
  }
}

const failureOf = (error: unknown, { kind }: Kind, { metadata }: DesiredObject) =>
  isNamespaceGone(error) ? new BeingDeleted(`the namespace of ${kind} '${metadata.name}' is being deleted`) : error;

async function repair(context: ClusterContext, kind: Kind, own: DesiredObject, stored: WireObject) {
  const { metadata } = stored;
  if (metadata.deletionTimestamp !== undefined) {
    throw new BeingDeleted(`${kind.kind} '${metadata.name}' is being deleted`);
  }
  const ownerOf = ({ labels }: DesiredObject["metadata"]) => labels?.[ENVIRONMENT_UID_LABEL];
  if (ownerOf(metadata) !== ownerOf(own.metadata)) throw new NameTaken(kind.kind, metadata.name);
  const operations = drift(own, stored);
  if (operations.length === 0) return "unchanged";
  const body = [sameObject(metadata), ...operations];
  show(context, kind, await context.client.patch<WireObject>(kind, refOf(metadata), body, { as: "json" }));
  return "repaired";
}

async function startRemoval(
  { client, watched }: ClusterContext,
  kind: Kind,
  found: WireObject,
  only: { readonly uid: string; readonly resourceVersion?: string },
): Promise<Removal> {
  const deletion = client.delete<WireObject>(kind, refOf(found.metadata), only);
  // Changed or replaced between read and delete, or in a terminating namespace: the next call reads again.
  const left = await deletion.catch(insteadOf(isConflict, "changed"));
  if (left === "changed") return removing(kind, found);
  const cache = watched.get(kind.plural);
  if (cache !== undefined) keptRest(cache, found, left);
  return left === "gone" ? { state: "gone" } : removing(kind, left);
}

function removing(kind: Kind, object: WireObject | ObservedObject): Removal {
  const message = `${kind.kind} '${object.metadata.name}' is being deleted`;
  return { state: "removing", message, blockers: blockersOf(kind, object) };
}

/** The object's finalizers, and its own conditions about the deletion. */
function blockersOf(kind: Kind, object: WireObject | ObservedObject): Blocker[] {
  const { name, finalizers = [] } = object.metadata;
  return [
    ...finalizers.map((finalizer) => ({ reason: finalizer, message: "a finalizer that is not removed yet" })),
    ...trueConditions(object).map(({ type, message = "" }) => ({ reason: type, message })),
  ].map((blocker) => ({ kind: kind.kind, name, ...blocker }));
}

/** A terminating namespace has a condition for each kind of remainder, True while it is so. */
function trueConditions(object: { readonly [field: string]: unknown }) {
  type Condition = { readonly type: string; readonly status?: string; readonly message?: string };
  const { conditions = [] } = (object.status ?? {}) as { conditions?: readonly Condition[] };
  return conditions.filter(({ status }) => status === "True");
}

type FreshRights = ReturnType<typeof freshRights>;

/** Rights in environments' namespaces, which come from RoleBindings that may be brand-new. */
function freshRights(clock: Clock) {
  /** Creation of our RoleBinding by namespace, on the monotonic clock; of the last two seconds only. */
  const boundMs = new Map<string, number>();
  const isFresh = (namespace = "") =>
    clock.monotonicMs() - (boundMs.get(namespace) ?? Number.NEGATIVE_INFINITY) < FRESH_RIGHT_MS;
  return {
    bound(namespace: string): void {
      for (const known of boundMs.keys()) if (!isFresh(known)) boundMs.delete(known);
      boundMs.set(namespace, clock.monotonicMs());
    },

    /** Retries a 403 soon after the creation of the RoleBinding. Any other is a failure. */
    async during<T>(namespace: string | undefined, call: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await call();
        } catch (error) {
          if (!isForbidden(error) || isNamespaceGone(error) || !isFresh(namespace)) throw error;
          await pause(clock, FRESH_RIGHT_RETRY_MS, new AbortController().signal);
        }
      }
    },
  };
}

/** Creating in a terminating namespace is 403, in a deleted one 404: https://kubernetes.io/docs/reference/using-api/ */
function isNamespaceGone(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  const isAbsent = isNotFound(error) && error.kind === namespaceKind.plural;
  return isAbsent || error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}
