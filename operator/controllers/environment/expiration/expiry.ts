import { clipped } from "../../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, gracePeriodEnd, isExpired } from "../../../../crds/environment/lifetime.ts";
import type { Log } from "../../../kit/log.ts";
import type { Clock } from "../../../kit/time/clock.ts";
import { reportLimit } from "../../../kit/time/rate-limits.ts";
import type { ServerClock } from "../../../ports/cluster.ts";
import { type OperatorEnvironments, RemovalRefused } from "../../../ports/environments.ts";
import { createSchedule } from "../schedule.ts";
import type { createExpirationLimiter } from "./limiter.ts";

/** The ports of an expiry, and what is remembered of former ones. */
export interface ExpiryContext {
  readonly log: Log;
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly environments: Pick<OperatorEnvironments, "remove">;
  readonly limiter: ReturnType<typeof createExpirationLimiter>;
  readonly refusals: ReturnType<typeof createRefusedDeletions>;
  readonly reportDisagreement: ReturnType<typeof disagreementReporter>;
}

/**
 * `deleting`: the deletion was requested; `retryInMs`: soon, so no step runs; else the environment stays: until
 * `dueInMs`, or although expired, with a check after `recheckInMs`; `refusal` is the API server's.
 */
type Expiry =
  | "deleting"
  | { readonly retryInMs: number }
  | { readonly dueInMs?: number | undefined; readonly recheckInMs?: number; readonly refusal?: string };

const DISAGREEMENT_RECHECK_MS = 60_000;
/** The API server's clock is a header in whole seconds, rounded down. */
const CLOCK_GRAIN_MS = 1_000;
/** Time for which one reading of that clock serves all environments. */
const SHARED_MS = 200;
/** A confirmation enqueues the environment; a smaller number of due ones must be polled. */
const BLOCKED_RECHECK_MS = 30_000;
const REASON_MAX_LENGTH = 512;
/** Long enough for the watch to deliver the newer version. */
const CHANGED_RECHECK_MS = 1_000;

/**
 * Decides that an environment has expired, and deletes it: both clocks have to say so, and only the checked version is
 * deleted. Everything is computed from the resource; only refusals are remembered.
 */
export async function expire(environment: EphemeralEnvironment, context: ExpiryContext): Promise<Expiry> {
  const now = context.clock.now();
  // The TTL was lowered: the grace period goes into the status in this reconcile, and nothing is deleted before its end.
  const grace = gracePeriodEnd(environment, now);
  if (grace !== undefined) return { dueInMs: grace.getTime() - now.getTime() };
  if (!isExpired(environment, now)) {
    // Extended or protected since: the pauses start again.
    context.refusals.forget(environment.metadata.uid);
    return { dueInMs: untilDeletableMs(environment, now) };
  }
  const refusal = context.refusals.find(environment.metadata.uid);
  if (refusal !== undefined) return refused(refusal);

  const serverNow = await context.serverClock.now();
  const earlyMs = untilDeletableMs(environment, serverNow) ?? 0;
  if (earlyMs > CLOCK_GRAIN_MS) {
    context.reportDisagreement(environment, { now, serverNow });
    return { recheckInMs: DISAGREEMENT_RECHECK_MS };
  }
  if (earlyMs > 0) return { retryInMs: Math.min(earlyMs, SHARED_MS) };

  const slot = context.limiter.slotOf(environment);
  if (slot.state === "blocked") return { recheckInMs: BLOCKED_RECHECK_MS };
  if (slot.inMs > 0) return { retryInMs: slot.inMs };
  return remove(environment, context);
}

async function remove(environment: EphemeralEnvironment, context: ExpiryContext): Promise<Expiry> {
  const { name, uid } = environment.metadata;
  const { protectedUntil } = environment.spec;
  const lift = protectedUntil === undefined ? {} : { liftsProtection: true };
  try {
    const outcome = await context.environments.remove(environment, { onlyThisVersion: true, ...lift });
    if (outcome === "changed") return { retryInMs: CHANGED_RECHECK_MS };
    context.log.info("environment expired", { environment: name, ...(protectedUntil && { protectedUntil }) });
    return "deleting";
  } catch (error) {
    if (!(error instanceof RemovalRefused)) throw error;
    const why = clipped(error.why, REASON_MAX_LENGTH);
    const message = `the environment is expired, but its deletion is refused: ${why}; the operator retries it`;
    context.log.warn("the deletion of an expired environment is refused", { environment: name, error: error.cause });
    return refused(context.refusals.add(uid, message));
  }
}

const refused = ({ message, inMs }: RefusedDeletion): Expiry => ({ recheckInMs: inMs, refusal: message });

/** Logs a disagreement of the clocks once an hour: every expired environment finds it every minute. */
export function disagreementReporter({ clock, log }: { readonly clock: Clock; readonly log: Log }) {
  const uids = new Set<string>();
  const report = reportLimit(clock);
  return ({ metadata }: EphemeralEnvironment, { now, serverNow }: { now: Date; serverNow: Date }): void => {
    uids.add(metadata.uid);
    if (!report.isDue()) return;
    log.warn("clocks disagree on expiries: nothing is deleted", {
      // One example, and the count since the last line.
      environment: metadata.name,
      environments: uids.size,
      operatorTime: now.toISOString(),
      serverTime: serverNow.toISOString(),
    });
    uids.clear();
  };
}

function untilDeletableMs(environment: EphemeralEnvironment, now: Date): number | undefined {
  const from = deletableFrom(environment);
  return from === undefined ? undefined : from.getTime() - now.getTime();
}

/** The same clock, read at most five times a second and advanced by our own clock in between. */
export function sharedServerClock(serverClock: ServerClock, clock: Clock): ServerClock {
  let latest: { readonly atMs: number; readonly answer: Promise<Date> } | undefined;
  return {
    async now() {
      const nowMs = clock.monotonicMs();
      if (latest === undefined || nowMs - latest.atMs >= SHARED_MS) latest = { atMs: nowMs, answer: serverClock.now() };
      const mine = latest;
      try {
        return new Date((await mine.answer).getTime() + (nowMs - mine.atMs));
      } catch (error) {
        if (latest === mine) latest = undefined;
        throw error;
      }
    },
  };
}

/** A refused deletion that waits for its retry. */
interface RefusedDeletion {
  readonly message: string;
  readonly inMs: number;
}

const FIRST_PAUSE_MS = 5_000;
const LONGEST_PAUSE_MS = 600_000;

/** Expired environments with refused deletions, by UID. In memory only: a restart retries at once. */
export function createRefusedDeletions(clock: Clock) {
  const messages = new Map<string, string>();
  const retries = createSchedule(clock, LONGEST_PAUSE_MS);
  return {
    /** `undefined` when nothing was refused or the retry is due. */
    find(uid: string): RefusedDeletion | undefined {
      const message = messages.get(uid);
      if (message === undefined) return undefined;
      const inMs = retries.dueInMs(uid);
      return inMs > 0 ? { message, inMs } : undefined;
    },
    /** Records a refusal; the pause before the retry doubles each time. */
    add(uid: string, message: string): RefusedDeletion {
      messages.set(uid, message);
      return { message, inMs: retries.again(uid, FIRST_PAUSE_MS) };
    },
    forget(uid: string): void {
      messages.delete(uid);
      retries.forget(uid);
    },
  };
}
