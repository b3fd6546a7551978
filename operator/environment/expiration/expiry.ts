import { clipped, findCondition } from "../../../crds/conditions.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom, isExpired, reprieve } from "../../../crds/environment/lifetime.ts";
import type { Log } from "../../kit/log.ts";
import type { Clock } from "../../kit/time/clock.ts";
import { hourly } from "../../kit/time/hourly.ts";
import { type OperatorEnvironments, RemovalRefused } from "../../ports/environments.ts";
import type { EventRecorder } from "../../ports/event-recorder.ts";
import type { ServerClock } from "../../ports/server-clock.ts";
import type { ExpirationLimiter } from "./limiter.ts";
import type { ExpiryRefusals, Refusal } from "./refused-deletions.ts";

export interface ExpiryContext {
  readonly clock: Clock;
  readonly serverClock: ServerClock;
  readonly environments: Pick<OperatorEnvironments, "remove">;
  readonly limiter: ExpirationLimiter;
  readonly refusals: ExpiryRefusals;
  readonly events: EventRecorder;
  readonly tellDisagreement: ReturnType<typeof disagreements>;
  readonly log: Log;
}

/**
 * `removing`: its time was up; `itsTurnInMs`: it goes in a moment, and nothing else is worth doing for it; else it stays,
 * until `dueInMs` if its time is ever up, or although it is up, for a reason that may be gone after `lookAgainInMs`: where
 * the API server refuses the deletion, `refusal` says so.
 */
export type Expiry =
  | "removing"
  | { readonly itsTurnInMs: number }
  | { readonly dueInMs?: number | undefined; readonly lookAgainInMs?: number; readonly refusal?: string };

const DISAGREEMENT_RECHECK_MS = 60_000;
/** The API server's clock is read from a header that holds whole seconds, rounded down: it may be that much further. */
const CLOCK_GRAIN_MS = 1_000;
/** One answer of that clock serves all for so long. */
const SHARED_MS = 200;
/** An annotation that confirms wakes the environment at once; that fewer are due has to be looked for. */
const HELD_RECHECK_MS = 30_000;
/** Of the API server's sentence so much is shown. */
const REASON_MAX_LENGTH = 512;
/** Enough for the watch to deliver the version that the decision missed. */
const DECIDE_AGAIN_MS = 1_000;

/**
 * Deletes an environment whose time is up, by both clocks, and only in the version that was judged.
 * Everything is computed from the resource; nothing is remembered between passes but what was refused.
 */
export async function expire(environment: EphemeralEnvironment, context: ExpiryContext): Promise<Expiry> {
  const now = context.clock.now();
  // A TTL that was just lowered is granted its grace period, stored by this pass, before it counts.
  const grace = reprieve(environment, now);
  if (grace !== undefined) return { dueInMs: grace.getTime() - now.getTime() };
  if (!isExpired(environment, now)) {
    // It was extended or protected since: the next refusal is the first again.
    context.refusals.forget(environment.metadata.uid);
    return { dueInMs: untilDeletable(environment, now) };
  }
  const refusal = context.refusals.find(environment.metadata.uid);
  if (refusal !== undefined) return refused(refusal);

  const serverNow = await context.serverClock.now();
  const earlyMs = untilDeletable(environment, serverNow) ?? 0;
  if (earlyMs > CLOCK_GRAIN_MS) {
    context.tellDisagreement(environment, { now, serverNow });
    return { lookAgainInMs: DISAGREEMENT_RECHECK_MS };
  }
  if (earlyMs > 0) return { itsTurnInMs: Math.min(earlyMs, SHARED_MS) };

  const turn = context.limiter.turn(environment);
  if (turn.state === "held") return { lookAgainInMs: HELD_RECHECK_MS };
  if (turn.inMs > 0) return { itsTurnInMs: turn.inMs };
  return remove(environment, context);
}

async function remove(environment: EphemeralEnvironment, context: ExpiryContext): Promise<Expiry> {
  const { name, uid } = environment.metadata;
  try {
    const outcome = await context.environments.remove(environment, { onlyThisVersion: true });
    if (outcome === "changed") return { itsTurnInMs: DECIDE_AGAIN_MS };
    context.log.info("environment expired", { environment: name });
    return "removing";
  } catch (error) {
    if (!(error instanceof RemovalRefused)) throw error;
    const why = clipped(error.why, REASON_MAX_LENGTH);
    const message = `its time is up, but its deletion is refused: ${why}; it is tried again by itself`;
    const refusal = context.refusals.add(uid, message);
    context.log.warn("the deletion of an expired environment is refused", { environment: name, error: error.cause });
    const isTold = findCondition(environment.status?.conditions, "ExpiryRefused") !== undefined;
    if (!isTold) {
      context.events.publish({
        type: "Warning",
        reason: "ExpiryRefused",
        message: `environment ${name} (${uid}): ${message}`,
      });
    }
    return refused(refusal);
  }
}

const refused = ({ message, inMs }: Refusal): Expiry => ({ lookAgainInMs: inMs, refusal: message });

/** Tells that the clocks disagree, at once and then once an hour: all that are due say so every minute. */
export function disagreements({ clock, log }: Pick<ExpiryContext, "clock" | "log">) {
  const kept = new Set<string>();
  const telling = hourly(clock);
  return ({ metadata }: EphemeralEnvironment, { now, serverNow }: { now: Date; serverNow: Date }): void => {
    kept.add(metadata.uid);
    if (!telling.isDue()) return;
    log.warn("clocks disagree on expiries: nothing is deleted", {
      // One of them, and how many there were since this was said last.
      ...{ environment: metadata.name, environments: kept.size },
      ...{ operatorTime: now.toISOString(), serverTime: serverNow.toISOString() },
    });
    kept.clear();
  };
}

function untilDeletable(environment: EphemeralEnvironment, now: Date): number | undefined {
  const from = deletableFrom(environment);
  return from === undefined ? undefined : from.getTime() - now.getTime();
}

/** The same clock, asked at most five times a second however many want to know; in between, time goes on by our own. */
export function sharedServerClock(serverClock: ServerClock, clock: Clock): ServerClock {
  let asked: { readonly atMs: number; readonly answer: Promise<Date> } | undefined;
  return {
    async now() {
      const nowMs = clock.monotonicMs();
      if (asked === undefined || nowMs - asked.atMs >= SHARED_MS) asked = { atMs: nowMs, answer: serverClock.now() };
      const mine = asked;
      try {
        return new Date((await mine.answer).getTime() + (nowMs - mine.atMs));
      } catch (error) {
        if (asked === mine) asked = undefined;
        throw error;
      }
    },
  };
}
