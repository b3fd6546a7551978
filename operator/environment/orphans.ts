import { CONFIRM_DELETION_ANNOTATION } from "../../crds/group.ts";
import type { KubeObject } from "../kit/kube-object.ts";
import type { Log } from "../kit/log.ts";
import type { Bulletin } from "../ports/bulletin.ts";
import { mostAtOnce } from "./breaker.ts";
import { type Leftover, leftoverKey, leftovers } from "./leftovers.ts";
import { orphanRecord } from "./record.ts";
import { isOver, type TeardownContext, tearDown } from "./teardown.ts";

export interface SweepContext extends Omit<TeardownContext, "signal"> {
  /** The namespaces, applications and projects that carry our label, as the watches saw them last. */
  readonly belongings: () => readonly KubeObject[];
  /** Whether the watch knows an environment of that UID. */
  readonly isKnown: (uid: string) => boolean;
  /** The UIDs of all environments, read afresh and consistently. */
  readonly livingUids: () => Promise<readonly string[]>;
  readonly bulletin: Bulletin;
  readonly log: Log;
}

/** What a sweep found and did, in environments. */
export interface SweepReport {
  /** That are no more, while something of them is left. */
  readonly orphans: number;
  /** Whose leftovers began to go and have to be looked at soon. */
  readonly removing: number;
  /** Of which nothing is left now. */
  readonly removed: number;
  /** Whether the breaker keeps what is not confirmed. */
  readonly isHeld: boolean;
}

export type Sweep = (signal: AbortSignal) => Promise<SweepReport>;

interface Sighting {
  readonly atMs: number;
  readonly at: Date;
}

/**
 * Finds what belongs to environments that are no more: because somebody removed our finalizer, forced a step, or
 * restored an older state. Reported at first sight; removed after a grace, in the order of a teardown, by UID.
 *
 * The watches and the secret manager only name candidates: that an environment is gone is asked of the API server, and an
 * error ends the sweep before anything is touched. An implausible number is held until an admin confirms.
 */
export function createSweep(context: SweepContext): Sweep {
  const { settings, clock } = context;
  const sightings = new Map<string, Sighting>();
  const hold = createHold(context);

  return async (signal) => {
    const orphans = await findOrphans(context);
    note(orphans.found, sightings, context);
    const isHeld = hold(orphans);
    const due = orphans.found.filter((leftover) => {
      const seen = sightings.get(leftoverKey(leftover)) as Sighting;
      return (!isHeld || leftover.isConfirmed) && isDue(leftover, seen, context);
    });
    const ended = { removing: 0, removed: 0 };
    for (const leftover of due) {
      signal.throwIfAborted();
      const seenAt = sightings.get(leftoverKey(leftover))?.at ?? clock.now();
      ended[await remove(leftover, seenAt, { ...context, settings, signal })] += 1;
    }
    return { orphans: orphans.found.length, ...ended, isHeld };
  };
}

interface Orphans {
  readonly found: readonly Leftover[];
  /** How many environments there are. */
  readonly living: number;
}

async function findOrphans(context: SweepContext): Promise<Orphans> {
  const held = await context.secretManager.owners();
  const candidates = leftovers(context.belongings(), held, context.isKnown);
  if (candidates.length === 0) return { found: [], living: 0 };
  const living = new Set(await context.livingUids());
  return { found: candidates.filter(({ owner }) => !living.has(owner.uid)), living: living.size };
}

/** Tells of what is seen for the first time, and forgets what is seen no more. */
function note(found: readonly Leftover[], sightings: Map<string, Sighting>, { clock, log, bulletin }: SweepContext) {
  const keys = new Set(found.map(leftoverKey));
  for (const key of sightings.keys()) if (!keys.has(key)) sightings.delete(key);
  for (const { owner, what, ...leftover } of found) {
    const key = leftoverKey({ owner });
    if (sightings.has(key)) continue;
    sightings.set(key, { atMs: clock.monotonicMs(), at: clock.now() });
    const since = leftover.since.toISOString();
    log.warn("something is left of an environment that is no more", {
      environment: owner.name,
      uid: owner.uid,
      what,
      since,
    });
    bulletin.publish({
      type: "Warning",
      reason: "OrphanFound",
      message: `environment ${owner.name} (${owner.uid}) is no more, but there are: ${what.join(", ")}; they will be removed`,
    });
  }
}

/** Long enough since it was first seen, on a clock that can't be set, and since the youngest of it was made. */
function isDue({ until }: Leftover, seen: Sighting, { settings, clock }: SweepContext): boolean {
  const graceMs = settings.sweep.graceSeconds * 1_000;
  return clock.monotonicMs() - seen.atMs >= graceMs && clock.now().getTime() - until.getTime() >= graceMs;
}

async function remove(leftover: Leftover, seenAt: Date, context: SweepContext & TeardownContext) {
  const { owner, what } = leftover;
  const { log, bulletin } = context;
  const facts = { environment: owner.name, uid: owner.uid };
  const teardown = await tearDown(
    {
      metadata: { ...owner, deletionTimestamp: seenAt.toISOString() },
      record: (steps, goneAt) => orphanRecord({ owner, since: leftover.since, seenAt }, steps, goneAt),
    },
    context,
  );
  if (!isOver(teardown)) {
    const awaited = teardown.steps.find(({ state }) => state === "waiting");
    log.info("leftovers are being removed", { ...facts, awaited, error: teardown.error });
    return "removing";
  }
  log.warn("leftovers of an environment that is no more were removed", { ...facts, what });
  const message = `what was left of environment ${owner.name} (${owner.uid}) is gone: ${what.join(", ")}`;
  bulletin.publish({ type: "Normal", reason: "OrphanRemoved", message });
  return "removed";
}

const SAY_AGAIN_MS = 3_600_000;

/** More orphans than are plausible are rather a sign that the list of environments is wrong. */
function createHold({ settings, clock, log, bulletin }: SweepContext): (orphans: Orphans) => boolean {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return ({ found, living }) => {
    const unconfirmed = found.filter(({ isConfirmed }) => !isConfirmed).length;
    const most = mostAtOnce(settings.sweep.breaker, living);
    if (unconfirmed <= most) {
      saidAtMs = Number.NEGATIVE_INFINITY;
      return false;
    }
    if (clock.monotonicMs() - saidAtMs < SAY_AGAIN_MS) return true;
    saidAtMs = clock.monotonicMs();
    const confirm = `kubectl annotate namespace env-NAME… ${CONFIRM_DELETION_ANNOTATION}=true, or raise settings.sweep.breaker`;
    log.error("too many leftovers to be plausible: nothing is removed", {
      orphans: unconfirmed,
      living,
      most,
      confirm,
    });
    bulletin.publish({
      type: "Warning",
      reason: "SweepHeld",
      message: `something is left of ${unconfirmed} environments that are no more, beside ${living} that are: more than ${most} is not plausible, and nothing is removed until an admin confirms: ${confirm}`,
    });
    return true;
  };
}
