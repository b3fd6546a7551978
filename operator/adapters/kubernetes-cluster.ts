import { isDeepStrictEqual } from "node:util";
import { ENVIRONMENT_UID_LABEL, type Kind, ownerLabels } from "../../crds/group.ts";
import type { WireObject } from "../kinds.ts";
import { type Clock, pause } from "../kit/clock.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { isAlreadyExists, isConflict, isForbidden, isNotFound, KubeError } from "../kit/kube-errors.ts";
import { keyOfRef, type ResourceType } from "../kit/kube-object.ts";
import type { ObjectCache } from "../kit/object-cache.ts";
import {
  BeingDeleted,
  type Cluster,
  type DesiredObject,
  NameTaken,
  type ObjectRef,
  type ObservedObject,
  type Owner,
  type Removal,
} from "../ports/cluster.ts";

/** The caches of the kinds that are watched, by plural; what is not here is read afresh. */
export type WatchedKinds = ReadonlyMap<string, ObjectCache<WireObject>>;

/** How long a RoleBinding that we just made may take to be known to the API server's authorizer. */
const FRESH_RIGHT_MS = 2_000;
const FRESH_RIGHT_RETRY_MS = 10;

interface Context {
  readonly client: KubeClient;
  readonly watched: WatchedKinds;
  readonly clock: Clock;
}

/** The Cluster port on the Kubernetes API: makes by POST, repairs by patch, never adopts. */
export function kubernetesCluster(context: Context): Cluster {
  const { client, watched } = context;
  const cached = (kind: Kind, ref: ObjectRef) => watched.get(kind.plural)?.get(keyOfRef(ref));
  const fresh = (kind: Kind, ref: ObjectRef) =>
    withFreshRights(context, kind, () => client.find(kind as ResourceType<WireObject>, ref));

  return {
    async ensure(owner, kind, desired) {
      const wanted = labelled(owner, desired);
      const found = cached(kind, wanted.metadata);
      if (found !== undefined) return repair(context, { owner, kind, wanted, found });
      const outcome = await create(context, kind, wanted);
      if (outcome === "created") return "created";
      // The name is taken, by ourselves before a crash or by somebody else: only a fresh look tells.
      const rival = await fresh(kind, wanted.metadata);
      if (rival === undefined) throw new BeingDeleted(`${kind.kind} '${wanted.metadata.name}' went away just now`);
      if (owned(owner, rival) !== undefined) watched.get(kind.plural)?.written(rival);
      return repair(context, { owner, kind, wanted, found: rival });
    },

    observe(owner, kind, ref) {
      return owned(owner, cached(kind, ref));
    },

    async read(owner, kind, ref) {
      return owned(owner, await fresh(kind, ref));
    },

    async remove(owner, kind, ref) {
      const found = owned(owner, await fresh(kind, ref));
      if (found === undefined) return { state: "gone" };
      if (found.metadata.deletionTimestamp !== undefined) return removing(kind, found);
      return startRemoval(context, kind, found as WireObject);
    },
  };
}

function labelled(owner: Owner, desired: DesiredObject): DesiredObject {
  const labels = { ...desired.metadata.labels, ...ownerLabels(owner) };
  return { ...desired, metadata: { ...desired.metadata, labels } };
}

function owned(owner: Owner, object: WireObject | undefined): ObservedObject | undefined {
  return object?.metadata.labels?.[ENVIRONMENT_UID_LABEL] === owner.uid ? (object as ObservedObject) : undefined;
}

async function create(context: Context, kind: Kind, wanted: DesiredObject): Promise<"created" | "taken"> {
  try {
    const type = kind as ResourceType<WireObject>;
    const created = await withFreshRights(context, kind, () => context.client.create(type, wanted as never));
    context.watched.get(kind.plural)?.written(created);
    return "created";
  } catch (error) {
    if (isAlreadyExists(error)) return "taken";
    if (isNamespaceTerminating(error))
      throw new BeingDeleted(`the namespace of ${kind.kind} '${wanted.metadata.name}' is being deleted`);
    throw error;
  }
}

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
  // The test makes the patch hold for this very object only, and not for one made anew under its name.
  const body = [{ op: "test", path: "/metadata/uid", value: found.metadata.uid }, ...operations];
  const type = kind as ResourceType<WireObject>;
  const repaired = await context.client.patch(type, refOf(found), body, { as: "json" });
  context.watched.get(kind.plural)?.written(repaired);
  return "repaired";
}

/** What a JSON patch must do to bring the object back: whole fields are replaced, so that additions vanish too. */
export function drift(wanted: DesiredObject, found: WireObject): object[] {
  const { apiVersion, kind, metadata, ...fields } = wanted;
  const replaced = Object.entries(fields)
    .filter(([field, value]) => !isDeepStrictEqual(found[field], value))
    .map(([field, value]) => ({ op: "add", path: `/${field}`, value }));
  return [
    ...entries("labels", metadata.labels, found.metadata.labels),
    ...entries("annotations", metadata.annotations, found.metadata.annotations),
    ...missingFinalizers(metadata.finalizers, found.metadata.finalizers),
    ...replaced,
  ];
}

function entries(
  place: "labels" | "annotations",
  wanted: Readonly<Record<string, string>> = {},
  found: Readonly<Record<string, string>> | undefined,
): object[] {
  const changed = Object.entries(wanted).filter(([key, value]) => found?.[key] !== value);
  if (changed.length === 0) return [];
  const root = found === undefined ? [{ op: "add", path: `/metadata/${place}`, value: {} }] : [];
  const escaped = (key: string) => key.replaceAll("~", "~0").replaceAll("/", "~1");
  return [
    ...root,
    ...changed.map(([key, value]) => ({ op: "add", path: `/metadata/${place}/${escaped(key)}`, value })),
  ];
}

function missingFinalizers(wanted: readonly string[] = [], found: readonly string[] = []): object[] {
  const missing = wanted.filter((finalizer) => !found.includes(finalizer));
  return missing.length === 0 ? [] : [{ op: "add", path: "/metadata/finalizers", value: [...found, ...missing] }];
}

async function startRemoval({ client, watched }: Context, kind: Kind, found: WireObject): Promise<Removal> {
  const type = kind as ResourceType<WireObject>;
  try {
    const left = await client.delete(type, refOf(found), { uid: found.metadata.uid, propagationPolicy: "Background" });
    if (left === "gone") {
      watched.get(kind.plural)?.deleted(found);
      return { state: "gone" };
    }
    watched.get(kind.plural)?.written(left);
    return removing(kind, left);
  } catch (error) {
    // Another object took the name between the look and the delete, or a namespace is already terminating: look again.
    if (isConflict(error))
      return { state: "removing", message: `${kind.kind} '${found.metadata.name}' changed just now` };
    throw error;
  }
}

function removing(kind: Kind, object: WireObject | ObservedObject): Removal {
  const holders = [
    ...(object.metadata.finalizers ?? []).map((finalizer) => `finalizer ${finalizer}`),
    ...namespaceBlockers(object),
  ];
  const what = `${kind.kind} '${object.metadata.name}' is being deleted`;
  return { state: "removing", message: holders.length === 0 ? what : `${what}, held by ${holders.join("; ")}` };
}

/** A terminating namespace says in its conditions what is left in it. */
function namespaceBlockers(object: { readonly [field: string]: unknown }): string[] {
  const status = object.status as { conditions?: { status: string; message?: string }[] } | undefined;
  const conditions = object.kind === "Namespace" ? (status?.conditions ?? []) : [];
  return conditions
    .filter(({ status, message }) => status === "True" && message)
    .map(({ message }) => message as string);
}

/** Rights in an environment's namespace come from a RoleBinding made moments ago; a refusal right after it is no failure. */
async function withFreshRights<T>({ clock }: Context, kind: Kind, call: () => Promise<T>): Promise<T> {
  const until = clock.monotonicMs() + FRESH_RIGHT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const mayPass = kind.plural === "secrets" && isForbidden(error) && !isNamespaceTerminating(error);
      if (!mayPass || clock.monotonicMs() >= until) throw error;
      await pause(clock, FRESH_RIGHT_RETRY_MS, new AbortController().signal);
    }
  }
}

/** https://kubernetes.io/docs/reference/using-api/: creating in a namespace that goes is 403 with this cause, in one that went 404. */
function isNamespaceTerminating(error: unknown): boolean {
  if (isNotFound(error)) return true;
  return error instanceof KubeError && error.causes.some(({ reason }) => reason === "NamespaceTerminating");
}

function refOf({ metadata }: WireObject): ObjectRef {
  return metadata.namespace === undefined
    ? { name: metadata.name }
    : { name: metadata.name, namespace: metadata.namespace };
}
