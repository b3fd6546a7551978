import type { Settings } from "../../../../config/settings.ts";
import { isConfirmed, mostAtOnce } from "../../../../crds/environment/deletion-budget.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, gracePeriodEnd } from "../../../../crds/environment/lifetime.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../../crds/group.ts";
import type { Log } from "../../../kit/log.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import { reportLimit } from "../../../kit/time/rate-limits.ts";
import type { OperatorEnvironments } from "../../../ports/environments.ts";
import type { EventRecorder } from "../../../ports/event-recorder.ts";

/**
 * Slot of an expired environment: now (0) or after a delay, because older ones come first; or blocked until an admin
 * confirms it, because more are due than the deletion budget allows.
 */
export type Slot = { readonly state: "go"; readonly inMs: number } | { readonly state: "blocked" };

interface LimiterDependencies {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly environments: Pick<OperatorEnvironments, "list">;
}

/** Lifetime of a queue, which includes environments due within it. */
const WINDOW_MS = 1_000;

interface Queue {
  readonly atMs: number;
  /** Number of environments before it, by UID. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly isBlocked: boolean;
}

/**
 * Orders expired environments in a queue, limits their rate, and enforces the deletion budget. Those that had a slot
 * come last, so that a refused deletion delays no other.
 */
export function createExpirationLimiter(context: LimiterDependencies) {
  const { clock, settings } = context;
  const report = excessReporter(context);
  let latest: Queue | undefined;
  let hadSlot = new Set<string>();

  const queue = (): Queue => {
    const all = context.environments.list();
    const due = dueBy(all, clock.now());
    const excess = excessOf(due, all.length, settings);
    report(excess);
    const isBlocked = excess !== undefined;
    // A blocked environment takes no place in the queue.
    const going = (isBlocked ? due.filter(isConfirmed) : due).map(({ metadata }) => metadata.uid);
    const order = [...going.filter((uid) => !hadSlot.has(uid)), ...going.filter((uid) => hadSlot.has(uid))];
    hadSlot = new Set(going.filter((uid) => hadSlot.has(uid)));
    return { atMs: clock.monotonicMs(), ranks: new Map(order.map((uid, rank) => [uid, rank])), isBlocked };
  };
  return {
    slotOf(environment: EphemeralEnvironment): Slot {
      if (latest === undefined || clock.monotonicMs() - latest.atMs >= WINDOW_MS) latest = queue();
      if (latest.isBlocked && !isConfirmed(environment)) return { state: "blocked" };
      const rank = latest.ranks.get(environment.metadata.uid) ?? latest.ranks.size;
      const opensMs = latest.atMs + Math.floor(rank / settings.expiry.perSecond) * 1_000;
      const inMs = Math.max(0, opensMs - clock.monotonicMs());
      if (inMs === 0) hadSlot.add(environment.metadata.uid);
      return { state: "go", inMs };
    },
  };
}

/** True when the deletion budget blocks what is due now. */
export function areExpirationsBlocked(context: Omit<LimiterDependencies, "log" | "events">): boolean {
  const all = context.environments.list();
  return excessOf(dueBy(all, context.clock.now()), all.length, context.settings) !== undefined;
}

/** Sorted by expiry, oldest first; those without one last. */
export function oldestFirst(environments: readonly EphemeralEnvironment[]): EphemeralEnvironment[] {
  const compared = (one: number, other: number) => (one === other ? 0 : one - other);
  return [...environments].sort((one, other) => compared(deletableFromMs(one), deletableFromMs(other)));
}

/** The cache replaces objects and never changes them, so each timestamp is parsed once. */
const parsed = new WeakMap<EphemeralEnvironment, number>();

function deletableFromMs(environment: EphemeralEnvironment): number {
  const entry = parsed.get(environment);
  if (entry !== undefined) return entry;
  const moment = deletableFrom(environment)?.getTime() ?? Number.POSITIVE_INFINITY;
  parsed.set(environment, moment);
  return moment;
}

/** Environments due now or within the window, without terminating ones. */
function dueBy(environments: readonly EphemeralEnvironment[], now: Date): EphemeralEnvironment[] {
  const horizonMs = now.getTime() + WINDOW_MS;
  const isDue = (environment: EphemeralEnvironment) =>
    environment.metadata.deletionTimestamp === undefined &&
    deletableFromMs(environment) <= horizonMs &&
    gracePeriodEnd(environment, now) === undefined;
  return oldestFirst(environments.filter(isDue));
}

interface Excess {
  readonly due: number;
  readonly of: number;
  readonly most: number;
}

/** Due environments beyond the unconfirmed budget; else `undefined`. */
function excessOf(due: readonly EphemeralEnvironment[], of: number, { expiry }: Settings): Excess | undefined {
  const unconfirmed = due.filter((environment) => !isConfirmed(environment)).length;
  const most = mostAtOnce(expiry.deletionBudget, of);
  return unconfirmed > most ? { due: unconfirmed, of, most } : undefined;
}

/** Reports when the budget is exceeded, every hour while it is, and when that is over. */
function excessReporter({ clock, log, events }: LimiterDependencies): (excess: Excess | undefined) => void {
  const report = reportLimit(clock);
  return (excess) => {
    if (excess === undefined) {
      if (report.reset()) log.info("expirations continue: no more are due than may be deleted at once", {});
      return;
    }
    if (!report.isDue()) return;
    const confirm = `kubectl annotate eenv NAME… ${CONFIRM_DELETION_ANNOTATION}=true`;
    log.error("too many environments are due at once: none is deleted", { ...excess, confirm });
    events.publish({
      type: "Warning",
      reason: "ExpirationsBlocked",
      action: "Expire",
      message: `${excess.due} of ${excess.of} environments are due at once, more than ${excess.most}: none is deleted until fewer are due, or an admin confirms: ${confirm}`,
    });
  };
}
