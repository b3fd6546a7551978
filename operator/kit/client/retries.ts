import { backoffMs } from "../time/backoff.ts";
import { type Clock, pause } from "../time/clock.ts";
import { isAlreadyExists, isConflict, KubeError } from "./errors.ts";

const CONFLICT_ROUNDS = 5;

/** Repeats a read-and-write after a conflict, five times in all; `attempt` must read afresh from round 2 on. */
export async function retryOnConflict<T>(attempt: (round: number) => Promise<T>): Promise<T> {
  for (let round = 1; ; round++) {
    try {
      return await attempt(round);
    } catch (error) {
      const lost = isConflict(error) || isAlreadyExists(error);
      if (!lost || round === CONFLICT_ROUNDS) throw error;
    }
  }
}

const READ_ATTEMPTS = 4;
const BACKOFF_MS = { first: 100, longest: Number.POSITIVE_INFINITY };

interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Ends the waiting; its remaining time bounds it too. */
  readonly signal: AbortSignal;
  /** Latest end of a wait, on `clock.monotonicMs()`'s scale. */
  readonly untilMs: number;
}

/** Repeats a read while the failure may pass: four attempts, 0.1 s doubling with jitter, or `Retry-After`. */
export async function retryRead<R>(read: () => Promise<R>, options: RetryOptions): Promise<R> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const delayMs = delayBefore(attempt, error, options);
      if (delayMs === undefined) throw error;
      await pause(options.clock, delayMs, options.signal);
      if (options.signal.aborted) throw error;
    }
  }
}

function delayBefore(attempt: number, error: unknown, options: RetryOptions): number | undefined {
  if (attempt >= READ_ATTEMPTS || !mayPass(error, attempt)) return undefined;
  const ownMs = backoffMs(attempt, BACKOFF_MS) * (0.5 + options.random());
  const retryAfterMs = (error.retryAfterSeconds ?? 0) * 1000;
  const delayMs = Math.max(ownMs, retryAfterMs === 0 ? 0 : retryAfterMs * (1 + 0.1 * options.random()));
  return options.clock.monotonicMs() + delayMs < options.untilMs ? delayMs : undefined;
}

/** A 401 is retried once, because the token may have been renewed. */
function mayPass(error: unknown, attempt: number): error is KubeError {
  if (!(error instanceof KubeError)) return false;
  if (error.status === 0) return error.reason !== "Aborted" && error.reason !== "Timeout";
  return error.status === 429 || error.status === 503 || (error.status === 401 && attempt === 1);
}
