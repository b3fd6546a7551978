import type { Kind } from "../../crds/group.ts";
import type { Removal } from "./deployer.ts";

/** Whose object it is. */
export interface Owner {
  readonly name: string;
  readonly uid: string;
}

/** An object that an environment should have, complete; the UID label is added by the port. */
export interface DesiredObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** The objects that make up an environment's namespace. */
export interface Cluster {
  /**
   * Makes the object as it is given, or repairs it where it drifted. An object of the same name that is not this
   * environment's is left byte-identical.
   *
   * @throws NameTaken when it belongs to somebody else, BeingDeleted when it (or its namespace) is on its way out
   */
  ensure(owner: Owner, kind: Kind, desired: DesiredObject): Promise<"unchanged" | "created" | "repaired">;

  /** A fresh read of an object of this environment; `undefined` when it is absent or somebody else's. */
  find(owner: Owner, kind: Kind, ref: { name: string; namespace?: string }): Promise<DesiredObject | undefined>;

  /** Deletes the environment's namespace; `removing` names what holds it. Somebody else's namespace of that name stays. */
  removeNamespace(owner: Owner, name: string): Promise<Removal>;
}

/** An object of the wanted name exists and is not this environment's. */
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
