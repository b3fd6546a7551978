import { PlatformError } from "./platform-error.ts";

/** Limits of retries. */
export interface Retries {
  /** Tries in all, the first one too. */
  readonly attempts: number;
  /** Longest wait, in milliseconds; a longer one ends the retries. */
  readonly longestWaitMs: number;
}

const FIRST_WAIT_MS = 250;

/**
 * Retries after 429, and, if a repetition does nothing twice, after 502 to 504 and after a failure of the network. It
 * waits for as long as the platform wants.
 *
 * @throws the last failure; the signal's reason once it is aborted
 */
export async function withRetries<T>(
  work: () => Promise<T>,
  { retries, isRepeatable, signal }: { retries: Retries; isRepeatable: boolean; signal: AbortSignal | undefined },
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      signal?.throwIfAborted();
      const waitMs = waitAfter(error, attempt, isRepeatable);
      if (attempt >= retries.attempts || waitMs === undefined || waitMs > retries.longestWaitMs) throw error;
      await pause(waitMs, signal);
    }
  }
}

function waitAfter(error: unknown, attempt: number, isRepeatable: boolean): number | undefined {
  const ownMs = FIRST_WAIT_MS * 2 ** (attempt - 1) * (0.5 + Math.random());
  // Error of fetch without an answer.
  if (!(error instanceof PlatformError)) return error instanceof TypeError && isRepeatable ? ownMs : undefined;
  const requestedMs = (error.retryAfterSeconds ?? 0) * 1000;
  // A request beyond the limit was not processed.
  if (error.status === 429) return Math.max(ownMs, requestedMs);
  const isPassing = [502, 503, 504].includes(error.status);
  return isPassing && isRepeatable ? Math.max(ownMs, requestedMs) : undefined;
}

/** @throws the signal's reason once it is aborted */
export function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal?.addEventListener("abort", end, { once: true });
    if (signal?.aborted) end();
  });
}
