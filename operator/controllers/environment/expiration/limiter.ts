import type { Settings } from "../../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, gracePeriodEnd } from "../../../../crds/environment/lifetime.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../../crds/group.ts";
import type { ControllerPorts } from "../../../controller-ports.ts";
import { hourly } from "../../../kit/time/hourly.ts";
import type { OperatorEnvironments } from "../../../ports/environments.ts";
import { isConfirmed, mostAtOnce } from "../deletion/deletion-budget.ts";

/**
 * When an expired environment may be deleted: now (0) or after so many milliseconds, because older ones come first; or not
 * before an admin confirms it, because more are due than the deletion budget allows.
 */
export type Slot = { readonly state: "go"; readonly inMs: number } | { readonly state: "blocked" };

/** Orders expired environments, limits their rate, and keeps to the deletion budget. */
export interface ExpirationLimiter {
  slotOf(environment: EphemeralEnvironment): Slot;
}

export interface LimiterContext extends Pick<ControllerPorts, "settings" | "clock" | "log" | "events"> {
  readonly environments: Pick<OperatorEnvironments, "list">;
}

/** How long one queue is used; it includes what falls due in this time. */
const WINDOW_MS = 1_000;

interface Queue {
  readonly atMs: number;
  /** By UID: how many environments come before it. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly isBlocked: boolean;
}

/**
 * The queue follows from what is due now. Only the environments that had a slot and still exist are remembered: they come
 * last, so one whose deletion is refused delays no other.
 */
export function createExpirationLimiter(context: LimiterContext): ExpirationLimiter {
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
    slotOf(environment) {
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

/** Whether the deletion budget blocks what is due now. */
export function areExpirationsBlocked(context: Omit<LimiterContext, "log" | "events">): boolean {
  const all = context.environments.list();
  return excessOf(dueBy(all, context.clock.now()), all.length, context.settings) !== undefined;
}

/** Sorted by expiry, the oldest first; those that never expire come last. */
export function oldestFirst(environments: readonly EphemeralEnvironment[]): EphemeralEnvironment[] {
  const compared = (one: number, other: number) => (one === other ? 0 : one - other);
  return [...environments].sort((one, other) => compared(deletableFromMs(one), deletableFromMs(other)));
}

/** The cache replaces objects and never changes them, so the timestamps of thousands are parsed once. */
const parsed = new WeakMap<EphemeralEnvironment, number>();

function deletableFromMs(environment: EphemeralEnvironment): number {
  const known = parsed.get(environment);
  if (known !== undefined) return known;
  const moment = deletableFrom(environment)?.getTime() ?? Number.POSITIVE_INFINITY;
  parsed.set(environment, moment);
  return moment;
}

/** What is due now or within the window and is not being deleted. */
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

/** How many are due, when they are more than the budget allows without a confirmation; else `undefined`. */
function excessOf(due: readonly EphemeralEnvironment[], of: number, { expiry }: Settings): Excess | undefined {
  const unconfirmed = due.filter((environment) => !isConfirmed(environment)).length;
  const most = mostAtOnce(expiry.breaker, of);
  return unconfirmed > most ? { due: unconfirmed, of, most } : undefined;
}

/** Reports when the budget is exceeded, every hour while it is, and when that is over. */
function excessReporter({ clock, log, events }: LimiterContext): (excess: Excess | undefined) => void {
  const report = hourly(clock);
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
