import { type Orphan, orphanKey, orphansAmong } from "../environment/deletion/orphans.ts";
import { orphanRecord } from "../environment/deletion/record.ts";
import {
  type DeletionTarget,
  isOver,
  type Teardown,
  type TeardownContext,
  tearDown,
} from "../environment/deletion/teardown.ts";
import { mostAtOnce } from "../environment/expiration/deletion-budget.ts";
import type { Log } from "../kit/log.ts";
import { hourly } from "../kit/time/hourly.ts";
import type { EventRecorder } from "../ports/event-recorder.ts";
import type { Inventory } from "../ports/inventory.ts";
import { FOUND, REMOVED, recordBlocked, recordEvents, STUCK } from "./orphan-events.ts";

export interface SweepContext
  extends Omit<TeardownContext, "signal">,
    Pick<Inventory, "belongings" | "isKnown" | "livingUids"> {
  readonly events: EventRecorder;
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
  leftover: Orphan;
  /** How far its removal came: once begun it goes on to its end, although less and less of it is found. */
  teardown?: Teardown;
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
    const fresh = note(orphans, sightings, context);
    const seen = [...sightings.values()];
    const isHeld = hold(seen.filter((sighting) => !isReleased(sighting)).length, living);
    recordEvents(FOUND, fresh, context);
    const due = seen.filter((one) => one.teardown || ((!isHeld || isReleased(one)) && isDue(one, context)));
    for (const sighting of due) {
      signal.throwIfAborted();
      sighting.teardown = await tearDown(leaving(sighting), { ...context, signal });
    }
    const ended = due.filter(({ teardown }) => teardown !== undefined && isOver(teardown));
    for (const { leftover } of ended) sightings.delete(orphanKey(leftover));
    const stuck = due.flatMap(({ leftover, teardown: { blockers = [] } = {} }) =>
      blockers.length > 0 ? [{ ...leftover, blockers }] : [],
    );
    recordEvents(REMOVED, ended.map(leftoverOf), context);
    recordEvents(STUCK, stuck, context);
    const removing = due.length - ended.length - stuck.length;
    return { orphans: orphans.length, removing, stuck: stuck.length, removed: ended.length, isHeld };
  };
}

const leftoverOf = ({ leftover }: Sighting) => leftover;

async function findOrphans(context: SweepContext, sightings: Sightings) {
  const held = await context.secretManager.owners(context.isKnown);
  const begun = [...sightings.values()].filter(({ teardown }) => teardown).map(leftoverOf);
  const found = orphansAmong(context.belongings(), held, context.isKnown);
  const candidates = new Map([...begun, ...found].map((leftover) => [orphanKey(leftover), leftover]));
  if (candidates.size === 0) return { orphans: [], living: 0 };
  const { environments, tokens } = await context.livingUids();
  const living = new Set([...environments, ...tokens]);
  const orphans = [...candidates.values()].filter(({ owner }) => !living.has(owner.uid));
  return { orphans, living: environments.length };
}

/** Forgets what is seen no more; answers what is seen for the first time. */
function note(orphans: readonly Orphan[], sightings: Sightings, { clock }: SweepContext): Orphan[] {
  const keys = new Set(orphans.map(orphanKey));
  for (const key of sightings.keys()) if (!keys.has(key)) sightings.delete(key);
  const fresh = orphans.filter((leftover) => !sightings.has(orphanKey(leftover)));
  for (const leftover of orphans) {
    const known = sightings.get(orphanKey(leftover));
    if (known?.teardown === undefined) {
      const { atMs, at } = known ?? { atMs: clock.monotonicMs(), at: clock.now() };
      sightings.set(orphanKey(leftover), { atMs, at, leftover });
    }
  }
  return fresh;
}

/** Whether the breaker lets it go whatever else there is; confirmed ones still have their grace. */
const isReleased = ({ teardown, leftover }: Sighting) => teardown !== undefined || leftover.isConfirmed;

/** Long enough since it was first seen, on a clock that can't be set, and since the youngest of it was made. */
function isDue({ leftover, atMs }: Sighting, { settings, clock }: SweepContext): boolean {
  const graceMs = settings.sweep.graceSeconds * 1_000;
  return clock.monotonicMs() - atMs >= graceMs && clock.now().getTime() - leftover.until.getTime() >= graceMs;
}

/** As a deletion of an environment of which nothing else is known. */
function leaving({ leftover, at, teardown }: Sighting): DeletionTarget {
  const { owner, since } = leftover;
  return {
    metadata: owner,
    // Nobody knows any more what it had: the secret manager's own list has had the time to be complete.
    variables: [],
    status: { teardown: { steps: [...(teardown?.steps ?? [])] } },
    record: (steps, goneAt) => orphanRecord({ owner, since, seenAt: at }, steps, goneAt),
  };
}

/** More orphans than are plausible are rather a sign that the list of environments is wrong. */
function createHold(context: SweepContext): (orphans: number, living: number) => boolean {
  const { settings, clock } = context;
  const telling = hourly(clock);
  return (orphans, living) => {
    // An empty list is what a lost or restored store answers, too: beside nothing that lives, two are many.
    const most = living === 0 ? 1 : mostAtOnce(settings.sweep.breaker, living);
    if (orphans <= most) {
      telling.reset();
      return false;
    }
    if (!telling.isDue()) return true;
    recordBlocked({ orphans, living, most }, context);
    return true;
  };
}
