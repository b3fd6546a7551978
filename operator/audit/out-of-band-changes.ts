import { findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION, FIELD_MANAGER } from "../../crds/group.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { ObjectCache } from "../kit/cache/object-cache.ts";
import type { KubeObject, ObjectMeta } from "../kit/client/objects.ts";
import type { OwnDeletions } from "../kit/client/own-deletions.ts";
import { endOf } from "../kit/controller/controller.ts";
import type { AuditRecord, AuditTrail } from "../ports/audit-trail.ts";
import type { Caches } from "../ports/caches.ts";

export interface OutOfBandContext {
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
export function recordOutOfBandChanges(context: OutOfBandContext): () => void {
  const { caches } = context;
  const ends = [
    following(caches.environments, context),
    following(caches.configSets, context),
    following(caches.repositories, context),
    caches.apiTokens.subscribe((_key, current, previous) => recordIfDeleted(previous, current, context)),
  ];
  for (const environment of caches.environments.list()) recordUnseen(environment, context);
  // A terminating Repository is no longer checked, so its status shows nothing.
  const repositories = caches.repositories.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const repository of repositories) recordUnseenSpec(repository, repository.metadata.generation, context);
  return endOf(ends);
}

/**
 * Records changes of an environment since its last reconcile. A teardown in the status means that its deletion was
 * seen. An unreconciled change may be recorded twice: a duplicate is better than a gap.
 */
function recordUnseen(environment: EphemeralEnvironment, context: OutOfBandContext): void {
  const { generation, deletionTimestamp, uid } = environment.metadata;
  const isDeletionUnseen = deletionTimestamp !== undefined && environment.status?.teardown === undefined;
  recordUnseenSpec(environment, isDeletionUnseen ? generation - 1 : generation, context);
  if (isDeletionUnseen && !context.deletions.has(uid)) record("deleted", environment, context);
}

/**
 * Records an unreconciled spec. A field manager's name proves nothing: only the next spec with a new audit id is the
 * REST interface's.
 *
 * @param generation of the newest spec, without the deletion's
 */
function recordUnseenSpec(
  object: EphemeralEnvironment | Repository,
  generation: number,
  context: OutOfBandContext,
): void {
  // `status.observedGeneration` is constant during the deletion.
  const seen = findCondition(object.status?.conditions, "Ready")?.observedGeneration;
  const isNext = generation === (seen ?? 0) + 1;
  if (generation === seen || (isNext && namesUnseenRecord(object))) return;
  record(seen === undefined ? "created" : "changed", object, context);
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

function following<T extends KubeObject>(cache: ObjectCache<T>, context: OutOfBandContext): () => void {
  return cache.subscribe((_key, current, previous) => {
    recordIfDeleted(previous, current, context);
    if (current !== undefined) recordIfForeign(current, previous, context);
  });
}

/** True when its deletion began with this change, or ended unseen. */
function isDeletion(previous: KubeObject, current: KubeObject | undefined): boolean {
  if (previous.metadata.deletionTimestamp !== undefined) return false;
  return current?.metadata.uid !== previous.metadata.uid || current.metadata.deletionTimestamp !== undefined;
}

function recordIfDeleted(
  previous: KubeObject | undefined,
  current: KubeObject | undefined,
  context: OutOfBandContext,
): void {
  if (previous === undefined || !isDeletion(previous, current)) return;
  if (!context.deletions.has(previous.metadata.uid)) record("deleted", previous, context);
}

/**
 * Records a new spec without a new audit id. A field manager's name proves nothing; a policy protects the annotation.
 * Of several missed generations the newest may be the REST interface's and an earlier one foreign: a duplicate is
 * better than a gap.
 */
function recordIfForeign(current: KubeObject, previous: KubeObject | undefined, context: OutOfBandContext): void {
  const before = previous?.metadata.uid === current.metadata.uid ? previous : undefined;
  if (!isNewSpec(current.metadata, before?.metadata)) return;
  if (isStampedAnew(current, before) && !hasMissedSome(current, before)) return;
  record(before === undefined ? "created" : "changed", current, context);
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

function record(action: Action, object: KubeObject, { audit, caches, newId }: OutOfBandContext): void {
  const { name, uid } = object.metadata;
  const fieldManagers = action === "deleted" ? [] : caches.writersOf(object);
  const entry: AuditRecord = {
    auditId: newId(),
    event: "change",
    action,
    outcome: "seen",
    actor: { method: "kubernetes", fieldManagers },
    objects: [{ kind: object.kind, name, uid }],
  };
  void audit.add(entry);
}

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
