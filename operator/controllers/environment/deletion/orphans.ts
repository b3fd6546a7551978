import { isConfirmed } from "../../../../crds/environment/deletion-budget.ts";
import { ENVIRONMENT_NAME_LABEL, ENVIRONMENT_UID_LABEL } from "../../../../crds/group.ts";
import { isUuid, nameProblem, namespaceName } from "../../../../crds/names.ts";
import type { KubeObject } from "../../../kit/client/objects.ts";
import type { Owner } from "../../../ports/cluster.ts";
import type { SecretOwner } from "../../../ports/secret-manager.ts";

/** Remaining objects of a deleted environment. */
export interface Orphan {
  readonly owner: Owner;
  /** Objects, for users: `Namespace env-shop`, `secrets`. */
  readonly what: readonly string[];
  /** Creation of the oldest and newest of them. */
  readonly since: Date;
  readonly until: Date;
  readonly isConfirmed: boolean;
}

/** Owner named by an object's labels; `undefined` when the object's name is not ours. */
export function ownerOf({ metadata }: KubeObject): Owner | undefined {
  const { [ENVIRONMENT_NAME_LABEL]: name = "", [ENVIRONMENT_UID_LABEL]: uid = "" } = metadata.labels ?? {};
  const isOurs = isEnvironment({ name, uid }) && metadata.name === namespaceName(name);
  return isOurs ? { name, uid } : undefined;
}

/** Objects of unknown environments, grouped by owner. */
export function orphansAmong(
  objects: readonly KubeObject[],
  held: readonly SecretOwner[],
  isKnown: (uid: string) => boolean,
): Orphan[] {
  // Nearly all are known, and this check is the cheapest.
  const unknown = objects.filter(({ metadata }) => !isKnown(metadata.labels?.[ENVIRONMENT_UID_LABEL] ?? ""));
  const unknownHeld = held.filter(({ uid }) => !isKnown(uid));
  const found = [...unknown.flatMap(ofObject), ...unknownHeld.flatMap(ofSecrets)];
  const byOwner = Map.groupBy(found, orphanKey);
  return [...byOwner.values()].map((orphans) => orphans.reduce(joined));
}

/** Name and UID together: each alone may be another environment's. */
export function orphanKey({ owner }: Pick<Orphan, "owner">): string {
  return `${owner.name} ${owner.uid}`;
}

function ofObject(object: KubeObject): Orphan[] {
  const owner = ownerOf(object);
  if (owner === undefined) return [];
  const made = new Date(object.metadata.creationTimestamp);
  const what = [`${object.kind} ${object.metadata.name}`];
  return [{ owner, what, since: made, until: made, isConfirmed: isConfirmed(object) }];
}

function ofSecrets({ name, uid, since, until }: SecretOwner): Orphan[] {
  if (!isEnvironment({ name, uid })) return [];
  return [{ owner: { name, uid }, what: ["secrets"], since, until, isConfirmed: false }];
}

/** True when an environment can have this name and UID. */
const isEnvironment = ({ name, uid }: Owner) => isUuid(uid) && nameProblem(name) === undefined;

function joined(one: Orphan, other: Orphan): Orphan {
  const [since, , , until] = [one.since, one.until, other.since, other.until].sort((a, b) => a.getTime() - b.getTime());
  return {
    owner: one.owner,
    what: [...one.what, ...other.what],
    since: since as Date,
    until: until as Date,
    isConfirmed: one.isConfirmed || other.isConfirmed,
  };
}
