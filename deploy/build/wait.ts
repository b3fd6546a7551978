import { setTimeout as pause } from "node:timers/promises";

/** A wait: a noun phrase for the error, the condition, the deadline in milliseconds. */
export interface Wait {
  readonly what: string;
  /** Answers true when the condition holds. It may fail: the error at the deadline has the last failure. */
  readonly check: () => Promise<boolean> | boolean;
  readonly deadlineMs: number;
  /** Throws when further waiting is pointless, for example because the awaited process has ended. */
  readonly giveUp?: () => void;
}

const pollMs = 40;

/** Waits until the condition holds. Fails at the deadline with the name of the condition. */
export async function waitUntil({ what, check, deadlineMs, giveUp }: Wait): Promise<void> {
  const began = performance.now();
  for (;;) {
    const { holds, failure } = await attempt(check);
    if (holds) return;
    giveUp?.();
    if (performance.now() - began > deadlineMs) {
      throw new Error(`${what} did not come within ${deadlineMs / 1000} s`, { cause: failure });
    }
    await pause(pollMs);
  }
}

/** True when a program of this machine answers this GET with a 2xx within two seconds. Fails without an answer. */
export async function answersWell(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(2000) })).ok;
}

async function attempt(check: Wait["check"]): Promise<{ holds: boolean; failure?: unknown }> {
  try {
    return { holds: await check() };
  } catch (failure) {
    return { holds: false, failure };
  }
}
