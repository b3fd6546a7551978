import type { TeardownBlocker } from "../../crds/environment/environment-status.schema.ts";
import type { Kind } from "../../crds/group.ts";
import type { ObjectMeta, ObjectRef } from "../kit/client/objects.ts";

/** Environment of an object. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** A desired object of an environment; the port adds the UID label. */
export interface DesiredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Pick<
    ObjectMeta,
    "name" | "namespace" | "labels" | "annotations" | "finalizers" | "ownerReferences"
  >;
  readonly [field: string]: unknown;
}

/** A stored object. */
export interface ObservedObject extends DesiredObject {
  readonly metadata: DesiredObject["metadata"] & Pick<ObjectMeta, "uid" | "resourceVersion" | "deletionTimestamp">;
}

/** An operation on one field; `path` is a JSON pointer. */
export interface FieldPatch {
  readonly op: "test" | "replace";
  readonly path: string;
  readonly value: unknown;
}

/** Blocker of an object's deletion, before clipping to the status's limits. */
export type Blocker = Readonly<TeardownBlocker>;

/** Progress of a deletion: gone (freshly verified), or waiting with a constant message and the current blockers. */
export type Removal =
  | { readonly state: "gone" }
  | { readonly state: "removing"; readonly message: string; readonly blockers?: readonly Blocker[] };

/** Objects of environments, from the watches. */
export interface ClusterObserver {
  /** The object as the watch saw it last; `undefined` for one of another owner. */
  observe(owner: Owner, kind: Kind, ref: ObjectRef): ObservedObject | undefined;
}

/**
 * Objects of environments, of any kind. Ownership is the UID label and nothing else: other objects are left untouched,
 * and count as absent. Calls to the API server may throw the kit's KubeError; `ensure` and `adopt` also NameTaken when
 * the object or its namespace is not this environment's, and BeingDeleted when it or its namespace is terminating.
 */
export interface Cluster extends ClusterObserver {
  /** Creates the object, or repairs its drift. */
  ensure(owner: Owner, kind: Kind, desired: DesiredObject): Promise<"unchanged" | "created" | "repaired">;
  /**
   * Sets fields of an object that Kubernetes creates in every namespace, such as the ServiceAccount `default`: it
   * becomes this environment's and keeps its other fields.
   */
  adopt(owner: Owner, kind: Kind, desired: DesiredObject): Promise<"unchanged" | "written">;
  /**
   * Writes the object, existing or not, without a right to read it: over what this platform wrote under that name, for
   * this environment or a former one. The API server's policies guard what others wrote.
   */
  overwrite(owner: Owner, kind: Kind, desired: DesiredObject): Promise<void>;
  /** Deletes, as `remove` does, an object that `overwrite` wrote. */
  discard(owner: Owner, kind: Kind, ref: ObjectRef): Promise<Removal>;
  /** A fresh read. */
  read(owner: Owner, kind: Kind, ref: ObjectRef): Promise<ObservedObject | undefined>;
  /** Deletes the object, or only the version `seen` by the decision; call again until `gone`. */
  remove(owner: Owner, kind: Kind, ref: ObjectRef, seen?: ObservedObject): Promise<Removal>;
  /** Changes fields of the object: all (RFC 6902), or none when a test of the patch fails. */
  change(owner: Owner, kind: Kind, ref: ObjectRef, patch: readonly FieldPatch[]): Promise<"changed" | "overtaken">;
  /** Removes the given finalizers, or all, also where others change the object meanwhile; fine when it is gone. */
  release(owner: Owner, kind: Kind, ref: ObjectRef, finalizers?: readonly string[]): Promise<void>;
}

/**
 * Writes the operator-owned fields of a kind. All methods throw the kit's KubeError on a conflict: the key is requeued.
 */
export interface StatusWriter<Resource, Status> {
  /** Adds our finalizer; call before the first side effect. */
  addFinalizer(resource: Resource): Promise<Resource>;
  /** Removes our finalizer: a terminating resource is then gone, unless it has others. */
  removeFinalizer(resource: Resource): Promise<void>;
  /** Replaces the status of exactly this version. */
  writeStatus(resource: Resource, status: Status): Promise<Resource>;
}

/** The API server's clock: nothing expires unless it and the operator's agree, so that one wrong clock ends nothing. */
export interface ServerClock {
  /** @throws the kit's KubeError when the API server is unreachable */
  now(): Promise<Date>;
}

/** An object of the desired name belongs to something else. */
export class NameTaken extends Error {
  override readonly name = "NameTaken";

  constructor(kind: string, objectName: string) {
    super(`${kind} '${objectName}' exists and does not belong to this environment; choose another name or remove it`);
  }
}

/** The object or its namespace is being deleted: it can be created again afterwards. */
export class BeingDeleted extends Error {
  override readonly name = "BeingDeleted";
}
