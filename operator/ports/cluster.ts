import type { TeardownBlocker } from "../../crds/environment/environment-status.schema.ts";
import type { Kind } from "../../crds/group.ts";
import type { ObjectMeta, ObjectRef } from "../kit/client/objects.ts";

/** The environment that an object belongs to. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** An object that an environment should have, complete; the UID label is added by the port. */
export interface DesiredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Pick<ObjectMeta, "name" | "namespace" | "labels" | "annotations" | "finalizers"> &
    Pick<ObjectMeta, "ownerReferences">;
  readonly [field: string]: unknown;
}

/** An object as the API server holds it. */
export interface ObservedObject extends DesiredObject {
  readonly metadata: DesiredObject["metadata"] & Pick<ObjectMeta, "uid" | "resourceVersion" | "deletionTimestamp">;
}

/** An operation on one field; `path` is a JSON pointer. */
export interface FieldPatch {
  readonly op: "test" | "replace";
  readonly path: string;
  readonly value: unknown;
}

/** What blocks the deletion of an object, before it is clipped to what a status may hold. */
export type Blocker = Readonly<TeardownBlocker>;

/**
 * Whether an object is gone, verified by a fresh read, or what its removal waits for: a message that stays the same while it
 * waits, and the current blockers.
 */
export type Removal =
  | { readonly state: "gone" }
  | { readonly state: "removing"; readonly message: string; readonly blockers?: readonly Blocker[] };

/**
 * The objects that belong to environments, whatever their kind. Ownership is the UID label and nothing else.
 *
 * Methods that talk to the API server throw the kit's KubeError when that fails.
 */
export interface Cluster {
  /**
   * Makes the object as it is given, or repairs it where it drifted. An object of the same name that is not this
   * environment's is left byte-identical.
   *
   * @throws NameTaken when it does not belong to this environment, BeingDeleted when it (or its namespace) is being deleted
   */
  ensure(owner: Owner, kind: Kind, desired: DesiredObject): Promise<"unchanged" | "created" | "repaired">;

  /**
   * Makes sure of fields of an object that Kubernetes itself makes in every namespace, such as the ServiceAccount `default`: the
   * one that is there becomes this environment's, and keeps its other fields.
   *
   * @throws NameTaken when its namespace is not this environment's, BeingDeleted when its namespace is being deleted
   */
  adopt(owner: Owner, kind: Kind, desired: DesiredObject): Promise<"unchanged" | "written">;

  /**
   * Writes the object as it is given, whether it is there or not, without a right to read it: over what this platform wrote
   * under that name before, for this environment or for a former one. What nothing of ours wrote is the API server's to guard.
   */
  overwrite(owner: Owner, kind: Kind, desired: DesiredObject): Promise<void>;

  /**
   * As `remove`, of what `overwrite` wrote.
   */
  discard(owner: Owner, kind: Kind, ref: ObjectRef): Promise<Removal>;

  /** The object as the watch saw it last; `undefined` when it is absent or not this environment's. */
  observe(owner: Owner, kind: Kind, ref: ObjectRef): ObservedObject | undefined;

  /** A fresh read; `undefined` when the object is absent or not this environment's. */
  read(owner: Owner, kind: Kind, ref: ObjectRef): Promise<ObservedObject | undefined>;

  /**
   * Deletes the object if it is this environment's (otherwise it counts as gone); call again until `gone`.
   *
   * @param seen the version that the decision was made on: only this version is deleted
   */
  remove(owner: Owner, kind: Kind, ref: ObjectRef, seen?: ObservedObject): Promise<Removal>;

  /**
   * Changes single fields of the object if it is this environment's: all of them, or none where it is no more as the
   * patch's tests say.
   *
   * @param patch of RFC 6902; only the operations `test` and `replace`
   */
  change(owner: Owner, kind: Kind, ref: ObjectRef, patch: readonly FieldPatch[]): Promise<"changed" | "overtaken">;

  /** Takes finalizers off the object if it is this environment's: those given, or every one. Others stay. */
  release(owner: Owner, kind: Kind, ref: ObjectRef, finalizers?: readonly string[]): Promise<void>;
}

/** An object of the desired name exists and is not this environment's. */
export class NameTaken extends Error {
  override readonly name = "NameTaken";

  constructor(kind: string, objectName: string) {
    super(`${kind} '${objectName}' exists and does not belong to this environment; choose another name or remove it`);
  }
}

/** The object, or its namespace, is being deleted: it can be made again when it is gone. */
export class BeingDeleted extends Error {
  override readonly name = "BeingDeleted";
}
