import { backoffMs } from "../time/backoff.ts";
import { type Clock, pause } from "../time/clock.ts";
import { KubeError } from "./errors.ts";

const ATTEMPTS = 4;
const BACKOFF_MS = { first: 100, longest: Number.POSITIVE_INFINITY };

export interface RetryOptions {
  readonly clock: Clock;
  readonly random: () => number;
  /** Ends the waiting; its remaining time bounds it too. */
  readonly signal: AbortSignal;
  /** Latest end of a wait, on `clock.monotonicMs()`'s scale. */
  readonly untilMs: number;
}

/**
 * Repeats a read while the failure may pass: four attempts, 0.1 s doubling with jitter, or the server's `Retry-After`.
 */
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
  if (attempt >= ATTEMPTS || !mayPass(error, attempt)) return undefined;
  const ownMs = backoffMs(attempt, BACKOFF_MS) * (0.5 + options.random());
  const askedMs = (error.retryAfterSeconds ?? 0) * 1000;
  const delayMs = Math.max(ownMs, askedMs === 0 ? 0 : askedMs * (1 + 0.1 * options.random()));
  return options.clock.monotonicMs() + delayMs < options.untilMs ? delayMs : undefined;
}

/** A 401 is retried once, because the token may have been renewed. */
function mayPass(error: unknown, attempt: number): error is KubeError {
  if (!(error instanceof KubeError)) return false;
  if (error.status === 0) return error.reason !== "Aborted" && error.reason !== "Timeout";
  return error.status === 429 || error.status === 503 || (error.status === 401 && attempt === 1);
}
