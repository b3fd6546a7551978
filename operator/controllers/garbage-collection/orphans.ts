import { HOUR_MS } from "../../../crds/durations.ts";
import { isConfirmed } from "../../../crds/environment/deletion-budget.ts";
import type { TeardownBlocker } from "../../../crds/environment/environment-status.schema.ts";
import { CONFIRM_DELETION_ANNOTATION, ENVIRONMENT_NAME_LABEL, ENVIRONMENT_UID_LABEL } from "../../../crds/group.ts";
import { isUuid, nameProblem, namespaceName } from "../../../crds/names.ts";
import type { KubeObject } from "../../kit/client/objects.ts";
import type { ReconcileResult } from "../../kit/controller/controller.ts";
import type { Log } from "../../kit/log.ts";
import { backoffMs } from "../../kit/time/backoff.ts";
import type { Owner } from "../../ports/cluster.ts";
import type { SecretOwner } from "../../ports/secret-manager.ts";
import { orphanRecord } from "../environment/deletion/record.ts";
import { isOver, type Teardown, tearDown } from "../environment/deletion/teardown.ts";
import type { DeletionTarget, TeardownDependencies } from "../environment/deletion/teardown-steps.ts";
import type { CollectionDependencies } from "./dependencies.ts";
import { DELETING_RECHECK_MS } from "./reconcile.ts";
import { type BlockedSweep, sweepBudget } from "./sweep-budget.ts";

/** Result of a sweep; all numbers count environments. */
export interface SweepReport {
  readonly orphans: number;
  /** Orphans being deleted. */
  readonly removing: number;
  /** Orphans blocked until people act. */
  readonly stuck: number;
  readonly removed: number;
  /** True when the deletion budget blocks unconfirmed ones. */
  readonly isBlocked: boolean;
}

type OrphanSweepDependencies = TeardownDependencies &
  CollectionDependencies<"events" | "belongings" | "isKnown" | "livingUids">;

export type Sweep = (signal: AbortSignal) => Promise<SweepReport>;

/** A confirmed orphan between sweeps. In memory only: a restart restarts its grace period. */
interface Candidate {
  readonly atMs: number;
  readonly at: Date;
  /** All of it, as before its deletion. */
  orphan: Orphan;
  /** Progress of its deletion; once begun it is completed, although less and less is found. */
  teardown?: Teardown;
}

type Candidates = Map<string, Candidate>;

/**
 * Sweeps orphans, which are objects of environments that no longer exist: the finalizer was removed, a step was forced, or etcd was
 * restored. Orphans are reported at once, and deleted after a grace period, in the order of a teardown, by UID.
 *
 * Watches and the secret manager suggest orphans; a fresh read of the environments confirms them, and an error ends the
 * sweep before any deletion. More than the deletion budget are blocked until an admin confirms them.
 */
export function createSweep(context: OrphanSweepDependencies): Sweep {
  const candidates: Candidates = new Map();
  const exceedsBudget = sweepBudget(context, BLOCKED);

  return async (signal) => {
    const { orphans, living } = await findOrphans(context, candidates);
    const fresh = update(candidates, orphans, context);
    const all = [...candidates.values()];
    const isBlocked = exceedsBudget(all.filter((candidate) => !isExempt(candidate)).length, living);
    recordEvents(FOUND, fresh, context);
    const due = all.filter((one) => one.teardown || ((!isBlocked || isExempt(one)) && isDue(one, context)));
    const ended: Orphan[] = [];
    try {
      for (const candidate of due) {
        signal.throwIfAborted();
        candidate.teardown = await tearDown(targetOf(candidate), { ...context, signal });
        if (!isOver(candidate.teardown)) continue;
        candidates.delete(orphanKey(candidate.orphan));
        ended.push(candidate.orphan);
      }
    } finally {
      recordEvents(REMOVED, ended, context);
    }
    const stuck = due.flatMap(({ orphan, teardown: { blockers = [], isRemoving } = {} }) =>
      blockers.length > 0 && isRemoving !== true ? [{ ...orphan, blockers }] : [],
    );
    recordEvents(STUCK, stuck, context);
    const removing = due.length - ended.length - stuck.length;
    return { orphans: orphans.length, removing, stuck: stuck.length, removed: ended.length, isBlocked };
  };
}

/** Sweeps again soon while orphans are being deleted, and less and less soon while none of them is gone. */
export function repeatedSweeps(sweep: Sweep, log: Log): (signal: AbortSignal) => Promise<ReconcileResult> {
  let fruitless = 0;
  return async (signal) => {
    const report = await sweep(signal);
    if (report.orphans > 0) log.info("swept", { ...report });
    if (report.removing === 0 || report.removed > 0) fruitless = 0;
    if (report.removing === 0) return {};
    fruitless += 1;
    return { requeueAfterMs: backoffMs(fruitless, { first: DELETING_RECHECK_MS, longest: HOUR_MS }) };
  };
}

const orphanOf = ({ orphan }: Candidate) => orphan;

async function findOrphans(context: OrphanSweepDependencies, candidates: Candidates) {
  const owners = await context.secretManager.owners(context.isKnown);
  const ongoing = [...candidates.values()].filter(({ teardown }) => teardown).map(orphanOf);
  const others = orphansAmong(context.belongings(), owners, context.isKnown);
  const suggested = new Map([...ongoing, ...others].map((orphan) => [orphanKey(orphan), orphan]));
  if (suggested.size === 0) return { orphans: [], living: 0 };
  const { environments, tokens } = await context.livingUids();
  const living = new Set([...environments, ...tokens]);
  const orphans = [...suggested.values()].filter(({ owner }) => !living.has(owner.uid));
  return { orphans, living: environments.length };
}

/** Replaces the candidates with the orphans found now; returns the new ones. */
function update(candidates: Candidates, orphans: readonly Orphan[], { clock }: OrphanSweepDependencies): Orphan[] {
  const keys = new Set(orphans.map(orphanKey));
  for (const key of candidates.keys()) if (!keys.has(key)) candidates.delete(key);
  const fresh = orphans.filter((orphan) => !candidates.has(orphanKey(orphan)));
  for (const orphan of orphans) {
    const former = candidates.get(orphanKey(orphan));
    if (former?.teardown === undefined) {
      const { atMs, at } = former ?? { atMs: clock.monotonicMs(), at: clock.now() };
      candidates.set(orphanKey(orphan), { atMs, at, orphan });
    }
  }
  return fresh;
}

/** True when the deletion budget does not apply; a confirmed orphan still has its grace period. */
const isExempt = ({ teardown, orphan }: Candidate) => teardown !== undefined || orphan.isConfirmed;

/** True when the grace period is over, since it was found and since the newest of it was created. */
function isDue({ orphan, atMs }: Candidate, { settings, clock }: OrphanSweepDependencies): boolean {
  const graceMs = settings.sweep.graceSeconds * 1_000;
  return clock.monotonicMs() - atMs >= graceMs && clock.now().getTime() - orphan.until.getTime() >= graceMs;
}

function targetOf({ orphan, at, teardown }: Candidate): DeletionTarget {
  const { owner, since } = orphan;
  return {
    metadata: owner,
    // The variables are unknown; after the grace period the secret manager's own list is complete.
    variables: [],
    status: { teardown: { steps: [...(teardown?.steps ?? [])], removals: [...(teardown?.removals ?? [])] } },
    record: (past, goneAt) => orphanRecord({ owner, since, seenAt: at }, { ...past, goneAt }),
  };
}

interface OrphanEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly line: string;
  /** The Event's message about one orphan, after its environment's name. */
  readonly message: (orphan: BlockedOrphan) => string;
}

type BlockedOrphan = Orphan & { readonly blockers?: readonly TeardownBlocker[] };

const FOUND: OrphanEvent = {
  type: "Warning",
  reason: "OrphanFound",
  line: "orphans of a deleted environment were found",
  message: ({ what }) =>
    `no longer exists, but it has left: ${what.join(", ")}; the orphans are deleted after a grace period`,
};

const REMOVED: OrphanEvent = {
  type: "Normal",
  reason: "OrphanRemoved",
  line: "orphans of a deleted environment were removed",
  message: ({ what }) => `no longer exists, and its orphans are deleted: ${what.join(", ")}`,
};

const STUCK: OrphanEvent = {
  type: "Warning",
  reason: "OrphanStuck",
  line: "orphans can't be deleted",
  message: ({ blockers = [] }) =>
    `no longer exists, and its orphans can't be deleted: ${blockers.map(describe).join("; ")}; they can't be forced: remove the blocker`,
};

const describe = ({ kind, name, reason, message }: TeardownBlocker) =>
  `${[kind, name].filter(Boolean).join(" ")} is blocked by ${reason}: ${message}`;

/** Others are counted, because thousands may be found at once. */
const MOST_BY_NAME = 10;

/** Reports some orphans by name and counts the others. */
function recordEvents(
  { type, reason, line, message }: OrphanEvent,
  orphans: readonly BlockedOrphan[],
  { log, events }: CollectionDependencies<"log" | "events">,
): void {
  const common = { type, reason, action: "Sweep" } as const;
  for (const orphan of orphans.slice(0, MOST_BY_NAME)) {
    const { owner, what, since, blockers } = orphan;
    log.warn(line, { environment: owner.name, uid: owner.uid, what, since: since.toISOString(), blockers });
    events.publish({ ...common, message: `environment ${owner.name} (${owner.uid}) ${message(orphan)}` });
  }
  const others = orphans.length - MOST_BY_NAME;
  if (others <= 0) return;
  log.warn(line, { others });
  events.publish({ ...common, message: `the same applies to ${others} more environments` });
}

/** Report of a sweep with implausibly many orphans. */
const BLOCKED: BlockedSweep = {
  line: "too many orphans to be plausible: none is deleted",
  reason: "OrphansBlocked",
  message: ({ orphans, living, most }) =>
    `${orphans} deleted environments have left orphans, beside ${living} environments that exist: more than ${most} is not plausible, and none is deleted until an admin confirms`,
  remedy: `kubectl annotate namespace env-NAME… ${CONFIRM_DELETION_ANNOTATION}=true (or its application or project); where only secrets are left, remove them from the secret manager`,
};

/** Remaining objects of a deleted environment. */
interface Orphan {
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
  secretOwners: readonly SecretOwner[],
  isKnown: (uid: string) => boolean,
): Orphan[] {
  // Nearly all are known, and this check is the cheapest.
  const unknown = objects.filter(({ metadata }) => !isKnown(metadata.labels?.[ENVIRONMENT_UID_LABEL] ?? ""));
  const unknownOwners = secretOwners.filter(({ uid }) => !isKnown(uid));
  const parts = [...unknown.flatMap(ofObject), ...unknownOwners.flatMap(ofSecrets)];
  const byOwner = Map.groupBy(parts, orphanKey);
  return [...byOwner.values()].map((orphans) => orphans.reduce(joined));
}

/** Name and UID together: each alone may be another environment's. */
function orphanKey({ owner }: Orphan): string {
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
