import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, reprieve } from "../../../crds/environment/lifetime.ts";
import { CONFIRM_DELETION_ANNOTATION } from "../../../crds/group.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { hourly } from "../../kit/time/hourly.ts";
import type { OperatorEnvironments } from "../../ports/environments.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import { isConfirmed, mostAtOnce } from "./deletion-budget.ts";

/**
 * When an environment that is due may go: now (0) or after so many milliseconds, because older ones come first; or not
 * before an admin has looked, because too many are due at the same moment.
 */
export type Slot = { readonly state: "go"; readonly inMs: number } | { readonly state: "held" };

/** Keeps a wave of expiries in order, at a pace, and within bounds. */
export interface ExpirationLimiter {
  turn(environment: EphemeralEnvironment): Slot;
}

export interface LimiterContext {
  readonly environments: Pick<OperatorEnvironments, "list">;
  readonly settings: Settings;
  readonly clock: Clock;
  readonly log: Log;
  readonly events: EventRecorder;
}

/** How long one look at all environments serves; it sees as far ahead, so that what falls due meanwhile is in it. */
const WINDOW_MS = 1_000;

interface Look {
  readonly atMs: number;
  /** By UID: how many older ones are due. */
  readonly ranks: ReadonlyMap<string, number>;
  readonly isHeld: boolean;
}

/**
 * Everything follows from what is due now. Remembered is only who had its turn and is still there: it comes last, so that
 * one whose deletion is refused is in nobody's way.
 */
export function createExpirationLimiter(context: LimiterContext): ExpirationLimiter {
  const { clock, settings } = context;
  const tell = announcer(context);
  let latest: Look | undefined;
  let hadTurn = new Set<string>();

  const look = (): Look => {
    const all = context.environments.list();
    const due = dueBy(all, clock.now());
    const excess = excessOf(due, all.length, settings);
    tell(excess);
    const isHeld = excess !== undefined;
    // Who is held waits for no turn, and keeps nobody waiting.
    const going = (isHeld ? due.filter(isConfirmed) : due).map(({ metadata }) => metadata.uid);
    const inTurn = [...going.filter((uid) => !hadTurn.has(uid)), ...going.filter((uid) => hadTurn.has(uid))];
    hadTurn = new Set(going.filter((uid) => hadTurn.has(uid)));
    return { atMs: clock.monotonicMs(), ranks: new Map(inTurn.map((uid, rank) => [uid, rank])), isHeld };
  };
  return {
    turn(environment) {
      if (latest === undefined || clock.monotonicMs() - latest.atMs >= WINDOW_MS) latest = look();
      if (latest.isHeld && !isConfirmed(environment)) return { state: "held" };
      const rank = latest.ranks.get(environment.metadata.uid) ?? latest.ranks.size;
      const opensMs = latest.atMs + Math.floor(rank / settings.expiry.perSecond) * 1_000;
      const inMs = Math.max(0, opensMs - clock.monotonicMs());
      if (inMs === 0) hadTurn.add(environment.metadata.uid);
      return { state: "go", inMs };
    },
  };
}

/** Whether a wave would hold back what is due now; for whoever wants to know and lets nothing go. */
export function areExpirationsBlocked({
  environments,
  settings,
  clock,
}: Omit<LimiterContext, "log" | "events">): boolean {
  const all = environments.list();
  return excessOf(dueBy(all, clock.now()), all.length, settings) !== undefined;
}

/** The longest due comes first; those that never expire come last. */
export function oldestFirst(environments: readonly EphemeralEnvironment[]): EphemeralEnvironment[] {
  const compared = (one: number, other: number) => (one === other ? 0 : one - other);
  return [...environments].sort((one, other) => compared(deletableFromMs(one), deletableFromMs(other)));
}

/** Objects of the cache are never changed but replaced: of thousands, only what is new has its timestamps read. */
const moments = new WeakMap<EphemeralEnvironment, number>();

function deletableFromMs(environment: EphemeralEnvironment): number {
  const known = moments.get(environment);
  if (known !== undefined) return known;
  const moment = deletableFrom(environment)?.getTime() ?? Number.POSITIVE_INFINITY;
  moments.set(environment, moment);
  return moment;
}

/** What is due now or within the window, and is not on its way out yet. */
function dueBy(environments: readonly EphemeralEnvironment[], now: Date): EphemeralEnvironment[] {
  const horizonMs = now.getTime() + WINDOW_MS;
  const isDue = (environment: EphemeralEnvironment) =>
    environment.metadata.deletionTimestamp === undefined &&
    deletableFromMs(environment) <= horizonMs &&
    reprieve(environment, now) === undefined;
  return oldestFirst(environments.filter(isDue));
}

interface Excess {
  readonly due: number;
  readonly of: number;
  readonly most: number;
}

/** How many are due, where they are too many to be deleted unconfirmed; else `undefined`. */
function excessOf(due: readonly EphemeralEnvironment[], of: number, { expiry }: Settings): Excess | undefined {
  const unconfirmed = due.filter((environment) => !isConfirmed(environment)).length;
  const most = mostAtOnce(expiry.breaker, of);
  return unconfirmed > most ? { due: unconfirmed, of, most } : undefined;
}

/** Tells when the breaker opens, now and then while it is open, and when it closes. */
function announcer({ clock, log, events }: LimiterContext): (excess: Excess | undefined) => void {
  const telling = hourly(clock);
  return (excess) => {
    if (excess === undefined) {
      if (telling.reset()) log.info("expiries go on: no more are due than may go at once", {});
      return;
    }
    if (!telling.isDue()) return;
    const confirm = `kubectl annotate eenv NAME… ${CONFIRM_DELETION_ANNOTATION}=true`;
    log.error("too many environments are due at once: none is deleted", { ...excess, confirm });
    events.publish({
      type: "Warning",
      reason: "ExpiriesHeld",
      message: `${excess.due} of ${excess.of} environments are due at once, more than ${excess.most}: none is deleted until fewer are due, or an admin confirms: ${confirm}`,
    });
  };
}
