import { setTimeout as pause } from "node:timers/promises";
import { PlatformError } from "../../../clients/sdk/index.ts";

/** A program may be away for that long. */
const PATIENCE_MS = 120_000;
const AGAIN_MS = 1_000;
/** Statuses with which the platform asks to come again. */
const PASSING = [429, 502, 503, 504];

/**
 * Repeats a request until it is answered, as clients do; a repetition does nothing twice.
 *
 * @throws PlatformError for a refusal, and the last failure of the network
 */
export async function insisted<T>(ask: () => Promise<T>): Promise<T> {
  const sinceMs = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const waitMs = waitAfter(error);
      if (waitMs === undefined || performance.now() - sinceMs > PATIENCE_MS) throw error;
      await pause(waitMs);
    }
  }
}

function waitAfter(error: unknown): number | undefined {
  if (!(error instanceof PlatformError)) return isUnanswered(error) ? AGAIN_MS : undefined;
  return PASSING.includes(error.status) ? Math.max(AGAIN_MS, (error.retryAfterSeconds ?? 0) * 1000) : undefined;
}

/** Errors of fetch: no connection, or no answer in time. */
const isUnanswered = (error: unknown) =>
  error instanceof TypeError || (error instanceof DOMException && error.name === "TimeoutError");
