import { findCondition } from "../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { AUDIT_ID_ANNOTATION } from "../../crds/group.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import type { ObjectCache } from "../kit/cache/object-cache.ts";
import type { KubeObject, ObjectMeta } from "../kit/client/objects.ts";
import type { OwnDeletions } from "../kit/client/own-deletions.ts";
import type { AuditRecord, AuditTrail } from "../ports/audit-trail.ts";
import type { Caches } from "../ports/caches.ts";

/** What recording takes. */
export interface OutOfBandContext {
  readonly caches: Pick<Caches, "environments" | "configSets" | "repositories" | "apiTokens" | "writersOf">;
  readonly audit: AuditTrail;
  readonly deletions: OwnDeletions;
  readonly newId: () => string;
}

type Action = "created" | "changed" | "deleted";

/**
 * Records what is done to environments, config sets and Repositories past the REST interface, from now on, and what was
 * done to environments and Repositories that no pass has seen yet. Returns the end of it. For the leader alone, or each replica would.
 *
 * What the REST interface writes bears the id of its record. Nothing says who deletes: what another replica deletes for
 * its caller is recorded here once more, without an actor; the UID is the same. API tokens can only be deleted so: a
 * policy has nobody else write them.
 */
export function recordOutOfBandChanges(context: OutOfBandContext): () => void {
  const { caches } = context;
  const ends = [
    following(caches.environments, context),
    following(caches.configSets, context),
    following(caches.repositories, context),
    caches.apiTokens.subscribe((_key, current, previous) => recordIfLeaving(previous, current, context)),
  ];
  for (const environment of caches.environments.list()) recordUnseen(environment, context);
  // A Repository that is on its way out is looked at no more, so nothing tells whether its end was seen.
  const repositories = caches.repositories.list().filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  for (const repository of repositories) recordUnseenSpec(repository, repository.metadata.generation, context);
  return () => {
    for (const end of ends) end();
  };
}

/**
 * What was done to an environment since a pass saw it last. Its end was seen once its status tells of the teardown. One
 * that the leader before recorded, or another replica for its caller, and that no pass came to see, is recorded once
 * more: rather a record too many.
 */
function recordUnseen(environment: EphemeralEnvironment, context: OutOfBandContext): void {
  const { generation, deletionTimestamp, uid } = environment.metadata;
  const isEndUnseen = deletionTimestamp !== undefined && environment.status?.teardown === undefined;
  recordUnseenSpec(environment, isEndUnseen ? generation - 1 : generation, context);
  if (isEndUnseen && !context.deletions.has(uid)) record("deleted", environment, context);
}

/**
 * `generation` is that of its newest spec, without what its end added. What wrote it may call itself what it likes: only
 * the one next spec that names another record than the last that was seen is the REST interface's.
 */
function recordUnseenSpec(
  object: EphemeralEnvironment | Repository,
  generation: number,
  context: OutOfBandContext,
): void {
  // The status' own `observedGeneration` stays as it is while an environment goes.
  const seen = findCondition(object.status?.conditions, "Ready")?.observedGeneration;
  const isNext = generation === (seen ?? 0) + 1;
  if (generation === seen || (isNext && namesUnseenRecord(object))) return;
  record(seen === undefined ? "created" : "changed", object, context);
}

/** The REST interface writes no Repository, so the status of one remembers no record. */
function namesUnseenRecord(object: EphemeralEnvironment | Repository): boolean {
  const stamp = stampOf(object);
  if (stamp === undefined || object.kind !== "EphemeralEnvironment") return false;
  const { observedAuditId, observedGeneration } = object.status ?? {};
  // A release before this one has seen it and did not remember which: rather a record too many.
  if (observedAuditId === undefined && observedGeneration !== undefined) return false;
  return stamp !== observedAuditId;
}

function following<T extends KubeObject>(cache: ObjectCache<T>, context: OutOfBandContext): () => void {
  return cache.subscribe((_key, current, previous) => {
    recordIfLeaving(previous, current, context);
    if (current !== undefined) recordIfForeign(current, previous, context);
  });
}

/** Whether its end began with this change, or came without a beginning. */
function isLeaving(previous: KubeObject, current: KubeObject | undefined): boolean {
  if (previous.metadata.deletionTimestamp !== undefined) return false;
  return current?.metadata.uid !== previous.metadata.uid || current.metadata.deletionTimestamp !== undefined;
}

function recordIfLeaving(
  previous: KubeObject | undefined,
  current: KubeObject | undefined,
  context: OutOfBandContext,
): void {
  if (previous === undefined || !isLeaving(previous, current)) return;
  if (!context.deletions.has(previous.metadata.uid)) record("deleted", previous, context);
}

/**
 * A new spec that no new record of the REST interface is named on. What wrote it may call itself what it likes; the
 * annotation is the platform's, and a policy keeps it so. Where generations were missed, the newest may be ours and one
 * before it somebody else's: rather a record too many.
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

/** The beginning of an end counts as a generation, too. */
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
    ...{ auditId: newId(), event: "change", action, outcome: "seen" },
    actor: { method: "kubernetes", fieldManagers },
    objects: [{ kind: object.kind, name, uid }],
  };
  void audit.add(entry);
}
