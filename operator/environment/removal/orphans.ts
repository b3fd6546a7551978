import { CONFIRM_DELETION_ANNOTATION } from "../../../crds/group.ts";
import type { KubeObject } from "../../kit/kube-object.ts";
import type { Log } from "../../kit/log.ts";
import type { Bulletin } from "../../ports/bulletin.ts";
import { mostAtOnce } from "./breaker.ts";
import { type Leftover, leftoverKey, leftovers } from "./leftovers.ts";
import { orphanRecord } from "./record.ts";
import { isOver, type Leaving, type Teardown, type TeardownContext, tearDown } from "./teardown.ts";

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
  /** Whose leftovers don't go: something holds them that only people can mend. */
  readonly stuck: number;
  /** Of which nothing is left now. */
  readonly removed: number;
  /** Whether the breaker keeps what is not confirmed. */
  readonly isHeld: boolean;
}

export type Sweep = (signal: AbortSignal) => Promise<SweepReport>;

/** What is remembered of an orphan between sweeps; in memory, so that a restart begins its grace anew. */
interface Sighting {
  readonly atMs: number;
  readonly at: Date;
  /** All of it, as it was found last before its removal was begun. */
  leftover: Leftover;
  /** When its removal was begun, and how far it came: it goes on to its end, although less and less of it is found. */
  begun?: { readonly at: Date; readonly steps: Teardown["steps"] };
}

type Sightings = Map<string, Sighting>;

/**
 * Finds what belongs to environments that are no more: because somebody removed our finalizer, forced a step, or
 * restored an older state. Reported at first sight; removed after a grace, in the order of a teardown, by UID.
 *
 * The watches and the secret manager only name candidates: that an environment is gone is asked of the API server, and an
 * error ends the sweep before anything is touched. An implausible number is held until an admin confirms.
 */
export function createSweep(context: SweepContext): Sweep {
  const sightings: Sightings = new Map();
  const hold = createHold(context);

  return async (signal) => {
    const { orphans, living } = await findOrphans(context, sightings);
    note(orphans, sightings, context);
    const seen = [...sightings.values()];
    const isHeld = hold(seen.filter((sighting) => !isReleased(sighting)).length, living);
    const due = seen.filter((one) => one.begun || ((!isHeld || isReleased(one)) && isDue(one, context)));
    const ended = { removing: 0, stuck: 0, removed: 0 };
    for (const sighting of due) {
      signal.throwIfAborted();
      const end = await remove(sighting, { ...context, signal });
      if (end === "removed") sightings.delete(leftoverKey(sighting.leftover));
      ended[end] += 1;
    }
    return { orphans: orphans.length, ...ended, isHeld };
  };
}

async function findOrphans(context: SweepContext, sightings: Sightings) {
  const held = await context.secretManager.owners(context.isKnown);
  const known = [...sightings.values()].filter(({ begun }) => begun).map(({ leftover }) => leftover);
  const found = leftovers(context.belongings(), held, context.isKnown);
  const candidates = new Map([...known, ...found].map((leftover) => [leftoverKey(leftover), leftover]));
  if (candidates.size === 0) return { orphans: [], living: 0 };
  const living = new Set(await context.livingUids());
  return { orphans: [...candidates.values()].filter(({ owner }) => !living.has(owner.uid)), living: living.size };
}

/** Tells of what is seen for the first time, and forgets what is seen no more. */
function note(orphans: readonly Leftover[], sightings: Sightings, context: SweepContext): void {
  const keys = new Set(orphans.map(leftoverKey));
  for (const key of sightings.keys()) if (!keys.has(key)) sightings.delete(key);
  for (const leftover of orphans) {
    const known = sightings.get(leftoverKey(leftover));
    if (known === undefined) sightings.set(leftoverKey(leftover), report(leftover, context));
    else if (!known.begun) known.leftover = leftover;
  }
}

function report(leftover: Leftover, { clock, log, bulletin }: SweepContext): Sighting {
  const { owner, what, since } = leftover;
  const facts = { environment: owner.name, uid: owner.uid, what, since: since.toISOString() };
  log.warn("something is left of an environment that is no more", facts);
  bulletin.publish({
    type: "Warning",
    reason: "OrphanFound",
    message: `environment ${owner.name} (${owner.uid}) is no more, but there are: ${what.join(", ")}; they will be removed`,
  });
  return { atMs: clock.monotonicMs(), at: clock.now(), leftover };
}

/** Whether the breaker lets it go whatever else there is; confirmed ones still have their grace. */
const isReleased = ({ begun, leftover }: Sighting) => begun !== undefined || leftover.isConfirmed;

/** Long enough since it was first seen, on a clock that can't be set, and since the youngest of it was made. */
function isDue({ leftover, atMs }: Sighting, { settings, clock }: SweepContext): boolean {
  const graceMs = settings.sweep.graceSeconds * 1_000;
  return clock.monotonicMs() - atMs >= graceMs && clock.now().getTime() - leftover.until.getTime() >= graceMs;
}

async function remove(sighting: Sighting, context: SweepContext & TeardownContext) {
  const { log, bulletin } = context;
  const { owner, what } = sighting.leftover;
  const facts = { environment: owner.name, uid: owner.uid };
  const teardown = await tearDown(leaving(sighting, context.clock.now()), context);
  sighting.begun = { at: sighting.begun?.at ?? context.clock.now(), steps: teardown.steps };
  if (teardown.blockers.length > 0) {
    log.warn("leftovers can't be removed", { ...facts, blockers: teardown.blockers, error: teardown.error });
    return "stuck";
  }
  if (!isOver(teardown)) return "removing";
  log.warn("leftovers of an environment that is no more were removed", { ...facts, what });
  const message = `what was left of environment ${owner.name} (${owner.uid}) is gone: ${what.join(", ")}`;
  bulletin.publish({ type: "Normal", reason: "OrphanRemoved", message });
  return "removed";
}

/** As if its deletion had been asked for when its removal was begun. */
function leaving({ leftover, at, begun }: Sighting, now: Date): Leaving {
  const { owner, since } = leftover;
  return {
    metadata: { ...owner, deletionTimestamp: (begun?.at ?? now).toISOString() },
    // Nobody knows any more what it had: the secret manager's own list has had the time to be complete.
    variables: [],
    status: { teardown: { steps: [...(begun?.steps ?? [])] } },
    record: (steps, goneAt) => orphanRecord({ owner, since, seenAt: at }, steps, goneAt),
  };
}

const SAY_AGAIN_MS = 3_600_000;

/** More orphans than are plausible are rather a sign that the list of environments is wrong. */
function createHold({ settings, clock, log, bulletin }: SweepContext): (orphans: number, living: number) => boolean {
  let saidAtMs = Number.NEGATIVE_INFINITY;
  return (orphans, living) => {
    const most = mostAtOnce(settings.sweep.breaker, living);
    if (orphans <= most) {
      saidAtMs = Number.NEGATIVE_INFINITY;
      return false;
    }
    if (clock.monotonicMs() - saidAtMs < SAY_AGAIN_MS) return true;
    saidAtMs = clock.monotonicMs();
    const confirm = `kubectl annotate namespace env-NAME… ${CONFIRM_DELETION_ANNOTATION}=true, or raise settings.sweep.breaker`;
    log.error("too many leftovers to be plausible: nothing is removed", { orphans, living, most, confirm });
    bulletin.publish({
      type: "Warning",
      reason: "SweepHeld",
      message: `something is left of ${orphans} environments that are no more, beside ${living} that are: more than ${most} is not plausible, and nothing is removed until an admin confirms: ${confirm}`,
    });
    return true;
  };
}
