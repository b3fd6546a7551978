import { findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION, FIELD_MANAGER } from "../../crds/group.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { ObjectCache } from "../kit/cache/object-cache.ts";
import type { KubeObject, ObjectMeta } from "../kit/client/objects.ts";
import type { OwnDeletions } from "../kit/client/own-deletions.ts";
import { endOf } from "../kit/controller/controller.ts";
import type { AuditTrail } from "../ports/audit-trail.ts";
import type { Caches } from "../ports/caches.ts";

interface OutOfBandDependencies {
  readonly caches: Pick<Caches, "environments" | "configSets" | "repositories" | "apiTokens" | "writersOf">;
  readonly audit: AuditTrail;
  readonly deletions: OwnDeletions;
  readonly newId: () => string;
}

type Action = "created" | "changed" | "deleted";

/**
 * Records changes of environments, config sets and Repositories that bypass the REST interface, from now on, and
 * unreconciled ones of environments and Repositories. Returns the unsubscribe function. Only for the leader, or every
 * replica would record them.
 *
 * A REST write carries its audit id. A deletion shows no author: another replica's is recorded again, without an actor.
 * API tokens can only be deleted this way: a policy forbids other writes.
 */
export function recordOutOfBandChanges({ caches, audit, deletions, newId }: OutOfBandDependencies): () => void {
  const record = (action: Action | undefined, object: KubeObject) => {
    const { name, uid } = object.metadata;
    if (action === undefined || (action === "deleted" && deletions.has(uid))) return;
    const fieldManagers = action === "deleted" ? [] : caches.writersOf(object);
    const actor = { method: "kubernetes", fieldManagers } as const;
    const objects = [{ kind: object.kind, name, uid }];
    void audit.add({ auditId: newId(), event: "change", action, outcome: "seen", actor, objects });
  };
  const recordDeletion = (current: KubeObject | undefined, previous: KubeObject | undefined) => {
    if (previous !== undefined && isDeletion(previous, current)) record("deleted", previous);
  };
  const follow = <T extends KubeObject>(cache: ObjectCache<T>) =>
    cache.subscribe((_key, current, previous) => {
      recordDeletion(current, previous);
      if (current !== undefined) record(foreignChange(current, previous), current);
    });
  const ends = [
    follow(caches.environments),
    follow(caches.configSets),
    follow(caches.repositories),
    caches.apiTokens.subscribe((_key, current, previous) => recordDeletion(current, previous)),
  ];
  for (const environment of caches.environments.list()) {
    // An unreconciled change may be recorded twice: a duplicate is better than a gap.
    const { metadata, status } = environment;
    const isDeletionUnseen = metadata.deletionTimestamp !== undefined && status?.teardown === undefined;
    record(unseenSpec(environment, metadata.generation - (isDeletionUnseen ? 1 : 0)), environment);
    if (isDeletionUnseen) record("deleted", environment);
  }
  for (const repository of caches.repositories.list()) {
    const { deletionTimestamp, generation } = repository.metadata;
    // A terminating Repository is no longer checked, so its status shows nothing.
    if (deletionTimestamp === undefined) record(unseenSpec(repository, generation), repository);
  }
  return endOf(ends);
}

/**
 * Change to an unreconciled spec. A field manager's name proves nothing: only the next spec with a new audit id is the
 * REST interface's.
 *
 * @param generation of the newest spec, without the deletion's
 */
function unseenSpec(object: EphemeralEnvironment | Repository, generation: number): Action | undefined {
  // `status.observedGeneration` is constant during the deletion.
  const seen = findCondition(object.status?.conditions, "Ready")?.observedGeneration;
  const isNext = generation === (seen ?? 0) + 1;
  if (generation === seen || (isNext && namesUnseenRecord(object))) return undefined;
  return seen === undefined ? "created" : "changed";
}

/** The REST interface writes no Repositories, so their status has no audit id. */
function namesUnseenRecord(object: EphemeralEnvironment | Repository): boolean {
  const stamp = stampOf(object);
  if (stamp === undefined || object.kind !== "EphemeralEnvironment") return false;
  const { observedAuditId, observedGeneration } = object.status ?? {};
  // An older release has seen it without storing the id: a duplicate is better than a gap.
  if (observedAuditId === undefined && observedGeneration !== undefined) return false;
  return stamp !== observedAuditId;
}

/** True when the deletion began with this change, or ended unseen. */
function isDeletion(previous: KubeObject, current: KubeObject | undefined): boolean {
  if (previous.metadata.deletionTimestamp !== undefined) return false;
  return current?.metadata.uid !== previous.metadata.uid || current.metadata.deletionTimestamp !== undefined;
}

/**
 * Change to a new spec without a new audit id. A field manager's name proves nothing; a policy protects the annotation.
 * Of several missed generations the newest may be the REST interface's and an earlier one foreign: a duplicate is
 * better than a gap.
 */
function foreignChange(current: KubeObject, previous: KubeObject | undefined): Action | undefined {
  const before = previous?.metadata.uid === current.metadata.uid ? previous : undefined;
  if (!isNewSpec(current.metadata, before?.metadata)) return undefined;
  if (isStampedAnew(current, before) && !hasMissedSome(current, before)) return undefined;
  return before === undefined ? "created" : "changed";
}

function hasMissedSome({ metadata: { generation = 0 } }: KubeObject, before: KubeObject | undefined): boolean {
  return before !== undefined && generation - (before.metadata.generation ?? 0) > 1;
}

/** The beginning of a deletion is a generation too. */
function isNewSpec(current: ObjectMeta, before: ObjectMeta | undefined): boolean {
  return current.generation !== before?.generation && current.deletionTimestamp === before?.deletionTimestamp;
}

function isStampedAnew(current: KubeObject, before: KubeObject | undefined): boolean {
  const stamp = stampOf(current);
  return stamp !== undefined && stamp !== stampOf(before);
}

const stampOf = (object: KubeObject | undefined) => object?.metadata.annotations?.[AUDIT_ID_ANNOTATION];

/** Remembers the foreign field managers of cached objects, because caches drop `managedFields`. */
export function fieldManagers() {
  const known = new WeakMap<KubeObject, readonly string[]>();
  return {
    /** Wraps a cache's transform. */
    noting:
      <T extends KubeObject>(transform: (object: T) => T) =>
      (object: T): T => {
        const kept = transform(object);
        const writers = lastWriters(object).filter((manager) => manager !== FIELD_MANAGER);
        if (writers.length > 0) known.set(kept, writers);
        return kept;
      },
    /** Foreign field managers that last wrote this version's spec; empty for the platform. */
    of: (object: KubeObject): readonly string[] => known.get(object) ?? [],
  };
}

/** Field managers that wrote the spec in the second of its last change. */
function lastWriters({ metadata }: KubeObject): readonly string[] {
  const ofSpec = (metadata.managedFields ?? []).filter(
    ({ subresource, fieldsV1 }) => subresource === undefined && fieldsV1 !== undefined && "f:spec" in fieldsV1,
  );
  const last = ofSpec.reduce((latest, { time = "" }) => (time > latest ? time : latest), "");
  return ofSpec.filter(({ time = "" }) => time === last).map(({ manager = "unknown" }) => manager);
}
