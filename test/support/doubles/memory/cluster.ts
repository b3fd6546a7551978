import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { ENVIRONMENT_UID_LABEL, type Kind, ownerLabels } from "../../../../crds/group.ts";
import { namespaceKind } from "../../../../operator/kit/client/kinds.ts";
import type { KubeObject, ObjectRef } from "../../../../operator/kit/client/objects.ts";
import {
  BeingDeleted,
  type Cluster,
  type DesiredObject,
  NameTaken,
  type ObservedObject,
  type Owner,
} from "../../../../operator/ports/cluster.ts";

export type MemoryObject = ObservedObject & KubeObject;

export interface MemoryCluster extends Cluster {
  /** All objects, as `Kind/name`, in the order of creation. */
  titles(): string[];
  list(): readonly MemoryObject[];
  /** The objects of one namespace, with their kinds. */
  within(namespace: string): readonly { readonly kind: Kind; readonly object: MemoryObject }[];
  /** Creates or replaces an object without an owner. */
  put(kind: Kind, object: MemoryObject): void;
  /** Sets an object's finalizers; without any, an object in deletion disappears. */
  hold(kind: Kind, ref: ObjectRef, finalizers: readonly string[]): void;
  annotate(kind: Kind, ref: ObjectRef, annotations: Readonly<Record<string, string>>): void;
  looks(kind: Kind): number;
  /** Makes reads of the kind fail, or work again. */
  fail(kind: Kind, failure: Error | undefined): void;
}

/** Objects without an API server; fulfils `clusterSuite`. */
export function memoryCluster(now: () => Date = () => new Date()): MemoryCluster {
  const objects = new Map<string, MemoryObject>();
  const failures = new Map<string, Error>();
  const looks = new Map<string, number>();
  const requested = (kind: Kind, ref: ObjectRef) => {
    looks.set(kind.plural, (looks.get(kind.plural) ?? 0) + 1);
    const failure = failures.get(kind.plural);
    if (failure !== undefined) throw failure;
    return objects.get(keyOf(kind, ref));
  };
  const there = (kind: Kind, ref: ObjectRef) => {
    const found = objects.get(keyOf(kind, ref));
    if (found === undefined) throw new TypeError(`there is no ${kind.kind} '${ref.name}'`);
    return found;
  };
  const kinds = new Map<MemoryObject, Kind>();
  const put = (kind: Kind, object: MemoryObject) => {
    kinds.set(object, kind);
    objects.set(keyOf(kind, object.metadata), object);
  };

  return {
    async ensure(owner, kind, desired) {
      const found = requested(kind, desired.metadata);
      if (found === undefined) {
        put(kind, made(owner, desired, now()));
        return "created";
      }
      const what = `${kind.kind} '${found.metadata.name}'`;
      if (found.metadata.deletionTimestamp !== undefined) throw new BeingDeleted(`${what} is being deleted`);
      if (owned(owner, found) === undefined) throw new NameTaken(kind.kind, found.metadata.name);
      const { finalizers = [] } = found.metadata;
      const missing = (desired.metadata.finalizers ?? []).filter((finalizer) => !finalizers.includes(finalizer));
      if (missing.length === 0) return "unchanged";
      this.hold(kind, desired.metadata, [...finalizers, ...missing]);
      return "repaired";
    },
    async adopt(owner, kind, desired) {
      const { namespace = "" } = desired.metadata;
      const place = objects.get(keyOf(namespaceKind, { name: namespace }));
      if (owned(owner, place) === undefined) throw new NameTaken(kind.kind, desired.metadata.name);
      const found = requested(kind, desired.metadata);
      if (owned(owner, found) !== undefined) return "unchanged";
      const { metadata } = found === undefined ? made(owner, desired, now()) : found;
      put(kind, {
        ...found,
        ...desired,
        metadata: { ...metadata, labels: { ...metadata.labels, ...ownerLabels(owner) } },
      });
      return "written";
    },
    async overwrite(owner, kind, desired) {
      const found = requested(kind, desired.metadata);
      const anew = made(owner, desired, now());
      put(kind, found === undefined ? anew : { ...anew, metadata: { ...anew.metadata, uid: found.metadata.uid } });
    },
    async discard(owner, kind, ref) {
      return this.remove(owner, kind, ref);
    },
    observe: (owner, kind, ref) => owned(owner, objects.get(keyOf(kind, ref))),
    read: async (owner, kind, ref) => owned(owner, requested(kind, ref)),
    async remove(owner, kind, ref, seen) {
      const found = owned(owner, requested(kind, ref));
      if (found === undefined) return { state: "gone" };
      const isSeen = seen === undefined || versionOf(seen) === versionOf(found);
      if (!isSeen) return { state: "removing", message: `${kind.kind} '${ref.name}' is being deleted`, blockers: [] };
      const { name, finalizers = [] } = found.metadata;
      if (finalizers.length === 0) {
        objects.delete(keyOf(kind, ref));
        return { state: "gone" };
      }
      put(kind, { ...found, metadata: { ...found.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } });
      const held = (reason: string) => ({ reason, message: "a finalizer that is not removed yet" });
      return {
        state: "removing",
        message: `${kind.kind} '${name}' is being deleted`,
        blockers: finalizers.map((finalizer) => ({ kind: kind.kind, name, ...held(finalizer) })),
      };
    },
    async change(owner, kind, ref, patch) {
      const found = owned(owner, requested(kind, ref));
      if (found === undefined) return "overtaken";
      const isAsTested = patch.every(
        ({ op, path, value }) => op !== "test" || isDeepStrictEqual(at(found, path), value),
      );
      if (!isAsTested) return "overtaken";
      const copy = structuredClone(found);
      for (const { op, path, value } of patch) if (op === "replace") replace(copy, path, value);
      put(kind, { ...copy, metadata: changed(found) });
      return "changed";
    },
    async release(owner, kind, ref, removable) {
      const found = owned(owner, requested(kind, ref));
      const { finalizers = [] } = found?.metadata ?? {};
      const kept = removable === undefined ? [] : finalizers.filter((finalizer) => !removable.includes(finalizer));
      if (found !== undefined && kept.length < finalizers.length) this.hold(kind, ref, kept);
    },
    titles: () => [...objects.values()].map(({ kind, metadata }) => `${kind}/${metadata.name}`),
    list: () => [...objects.values()],
    put,
    within: (namespace) =>
      [...objects.values()].flatMap((object) => {
        const kind = kinds.get(object);
        return kind !== undefined && object.metadata.namespace === namespace ? [{ kind, object }] : [];
      }),
    annotate(kind, ref, annotations) {
      const found = there(kind, ref);
      put(kind, { ...found, metadata: { ...changed(found), annotations } });
    },
    hold(kind, ref, finalizers) {
      const found = there(kind, ref);
      put(kind, { ...found, metadata: { ...changed(found), finalizers } });
      const isLetGo = finalizers.length === 0 && found.metadata.deletionTimestamp !== undefined;
      if (isLetGo) objects.delete(keyOf(kind, ref));
    },
    looks: (kind) => looks.get(kind.plural) ?? 0,
    fail(kind, failure) {
      if (failure === undefined) failures.delete(kind.plural);
      else failures.set(kind.plural, failure);
    },
  };
}

const changed = ({ metadata }: MemoryObject) => ({
  ...metadata,
  resourceVersion: String(Number(metadata.resourceVersion) + 1),
});
const versionOf = ({ metadata }: ObservedObject) => `${metadata.uid}@${metadata.resourceVersion}`;
const keyOf = ({ plural }: Kind, { namespace = "", name }: ObjectRef) => `${plural} ${namespace}/${name}`;

const at = (object: unknown, path: string): unknown =>
  path
    .split("/")
    .slice(1)
    .reduce((value, key) => (value as Record<string, unknown> | undefined)?.[key], object);

function replace(object: unknown, path: string, value: unknown): void {
  const end = path.lastIndexOf("/");
  (at(object, path.slice(0, end)) as Record<string, unknown>)[path.slice(end + 1)] = value;
}

function made(owner: Owner, desired: DesiredObject, at: Date): MemoryObject {
  const { metadata } = desired;
  const labels = { ...metadata.labels, ...ownerLabels(owner) };
  const given = { uid: randomUUID(), resourceVersion: "1", creationTimestamp: at.toISOString() };
  return { ...desired, metadata: { ...metadata, labels, ...given } };
}

function owned(owner: Owner, object: MemoryObject | undefined): MemoryObject | undefined {
  return object?.metadata.labels?.[ENVIRONMENT_UID_LABEL] === owner.uid ? object : undefined;
}
