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
import { keptRest } from "./store.ts";

/** Time until the API server's authorizer knows our new RoleBinding. */
const FRESH_RIGHT_MS = 2_000;
const FRESH_RIGHT_RETRY_MS = 20;

interface Options {
  readonly client: KubeClient;
  /** Objects of other kinds are read afresh. */
  readonly watched: OwnedCaches;
  readonly clock: Clock;
}

interface Context extends Options {
  /** Creation of our RoleBinding by namespace, on the monotonic clock; of the last two seconds only. */
  readonly bound: Map<string, number>;
  /**
   * UIDs of objects that seem older than their namespace but that a fresh read found in it: clocks of API servers
   * differ.
   */
  readonly confirmed: Set<string>;
}

/**
 * Cluster port on the Kubernetes API: creates by POST, repairs by patch, and adopts only objects that Kubernetes
 * creates in our namespaces.
 */
export function kubernetesCluster(options: Options): Cluster {
  const { client, watched } = options;
  const context: Context = { ...options, bound: new Map(), confirmed: new Set() };
  const cached = (kind: Kind, ref: ObjectRef) => watched.get(kind.plural)?.get(keyOfRef(ref));
  const fresh = (kind: Kind, ref: ObjectRef) =>
    withFreshRights(context, ref.namespace, () => client.find<WireObject>(kind, ref));

  return {
    async ensure(owner, kind, desired) {
      const wanted = labelled(owner, desired);
      const found = cached(kind, wanted.metadata);
      if (found !== undefined && !isBygone(context, found)) return repair(context, { owner, kind, wanted, found });
      const outcome = await create(context, kind, wanted);
      if (outcome === "created") return "created";
      // The name is taken, by ourselves before a crash or by another writer: only a fresh read can decide.
      const other = await fresh(kind, wanted.metadata);
      if (other === undefined) throw new BeingDeleted(`${kind.kind} '${wanted.metadata.name}' went away just now`);
      if (owned(owner, other) !== undefined) confirm(context, kind, other);
      return repair(context, { owner, kind, wanted, found: other });
    },

    async adopt(owner, kind, desired) {
      const { name, namespace = "" } = desired.metadata;
      const place = cached(namespaceKind, { name: namespace }) ?? (await fresh(namespaceKind, { name: namespace }));
      if (owned(owner, place) === undefined) throw new NameTaken(kind.kind, name);
      const wanted = labelled(owner, desired);
      const found = cached(kind, desired.metadata);
      const isKnown = found !== undefined && !isBygone(context, found);
      if (isKnown && drift(wanted, found).length === 0) return "unchanged";
      await apply(context, kind, wanted);
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
      const body = [{ op: "test", path: "/metadata/uid", value: found.metadata.uid }, ...patch];
      const changed = await client
        .patch<WireObject>(kind, ref, body, { as: "json" })
        .catch(insteadOf(isTestFailed, undefined));
      if (changed !== undefined) watched.get(kind.plural)?.written(changed);
      return changed === undefined ? "overtaken" : "changed";
    },

    async release(owner, kind, ref, unwanted) {
      const found = owned(owner, await fresh(kind, ref));
      if (found === undefined) return;
      const removal = removeFinalizers(
        { client, cache: watched.get(kind.plural) },
        kind,
        found as WireObject,
        unwanted,
      );
      // Changed between read and patch: the next call reads again.
      await removal.catch(insteadOf(isConflict, undefined));
    },
  };
}

/** A key as part of a JSON pointer: https://www.rfc-editor.org/rfc/rfc6901#section-3. */
const pointerOf = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");

/**
 * True when it was deleted with a former namespace of the same name: one kind's watch may lag behind another's, and
 * show the former namespace's objects in the new one.
 */
function isBygone({ watched, confirmed }: Context, { metadata }: WireObject): boolean {
  if (confirmed.has(metadata.uid)) return false;
  const namespace = watched.get(namespaceKind.plural)?.get(metadata.namespace ?? "");
  return namespace !== undefined && metadata.creationTimestamp < namespace.metadata.creationTimestamp;
}

/** Caches a freshly read object, and its existence, however old it seems. */
function confirm(context: Context, kind: Kind, found: WireObject): void {
  context.watched.get(kind.plural)?.written(found);
  if (isBygone(context, found)) context.confirmed.add(found.metadata.uid);
}

function labelled(owner: Owner, desired: DesiredObject): DesiredObject {
  const labels = { ...desired.metadata.labels, ...ownerLabels(owner) };
  return { ...desired, metadata: { ...desired.metadata, labels } };
}

function owned(owner: Owner, object: WireObject | undefined): ObservedObject | undefined {
  return object?.metadata.labels?.[ENVIRONMENT_UID_LABEL] === owner.uid ? (object as ObservedObject) : undefined;
}

async function create(context: Context, kind: Kind, wanted: DesiredObject): Promise<"created" | "taken"> {
  const { namespace } = wanted.metadata;
  try {
    const created = await withFreshRights(context, namespace, () => context.client.create<WireObject>(kind, wanted));
    context.watched.get(kind.plural)?.written(created);
    if (kind.plural === roleBindingKind.plural && namespace !== undefined) remember(context, namespace);
    return "created";
  } catch (error) {
    if (isAlreadyExists(error)) return "taken";
    if (isNamespaceGone(error)) throw namespaceGoes(kind, wanted);
    throw error;
  }
}

/** One write for a missing or existing object: Kubernetes creates it at the same time. */
async function apply({ client, watched }: Context, kind: Kind, wanted: DesiredObject): Promise<void> {
  try {
    const written = await client.patch<WireObject>(kind, wanted.metadata, wanted, { as: "apply" });
    watched.get(kind.plural)?.written(written);
  } catch (error) {
    throw isNamespaceGone(error) ? namespaceGoes(kind, wanted) : error;
  }
}

const namespaceGoes = (kind: Kind, { metadata }: DesiredObject) =>
  new BeingDeleted(`the namespace of ${kind.kind} '${metadata.name}' is being deleted`);

interface Found {
  readonly owner: Owner;
  readonly kind: Kind;
  readonly wanted: DesiredObject;
  readonly found: WireObject;
}

async function repair(context: Context, { owner, kind, wanted, found }: Found): Promise<"unchanged" | "repaired"> {
  if (found.metadata.deletionTimestamp !== undefined) {
    throw new BeingDeleted(`${kind.kind} '${found.metadata.name}' is being deleted`);
  }
  if (owned(owner, found) === undefined) throw new NameTaken(kind.kind, found.metadata.name);
  const operations = drift(wanted, found);
  if (operations.length === 0) return "unchanged";
  // The test binds the patch to this object, not to a recreated one.
  const body = [{ op: "test", path: "/metadata/uid", value: found.metadata.uid }, ...operations];
  const repaired = await context.client.patch<WireObject>(kind, refOf(found.metadata), body, { as: "json" });
  context.watched.get(kind.plural)?.written(repaired);
  return "repaired";
}

async function startRemoval(
  { client, watched }: Context,
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

interface WireCondition {
  readonly type: string;
  readonly status?: string;
  readonly message?: string;
}

/** A terminating namespace has a condition for each kind of remainder, True while it is so. */
function trueConditions(object: { readonly [field: string]: unknown }): WireCondition[] {
  const { conditions = [] } = (object.status ?? {}) as { conditions?: WireCondition[] };
  return conditions.filter(({ status }) => status === "True");
}

function remember({ bound, clock }: Context, namespace: string): void {
  const now = clock.monotonicMs();
  for (const [name, at] of bound) if (now - at >= FRESH_RIGHT_MS) bound.delete(name);
  bound.set(namespace, now);
}

/**
 * Rights in an environment's namespace come from a RoleBinding that may be brand-new: a 403 soon after its creation is
 * retried. Any other is a failure.
 */
async function withFreshRights<T>(context: Context, namespace: string | undefined, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const mayPass = isForbidden(error) && !isNamespaceGone(error) && isFreshlyBound(context, namespace);
      if (!mayPass) throw error;
      await pause(context.clock, FRESH_RIGHT_RETRY_MS, new AbortController().signal);
    }
  }
}

function isFreshlyBound({ bound, clock }: Context, namespace = ""): boolean {
  const at = bound.get(namespace);
  return at !== undefined && clock.monotonicMs() - at < FRESH_RIGHT_MS;
}

/**
 * https://kubernetes.io/docs/reference/using-api/: creating in a terminating namespace is 403 with this cause, in a
 * deleted one 404 about it.
 */
function isNamespaceGone(error: unknown): boolean {
  if (!(error instanceof KubeError)) return false;
  const isAbsent = isNotFound(error) && error.kind === namespaceKind.plural;
  return isAbsent || error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}
