import { setTimeout as pause } from "node:timers/promises";

/** A wait: a noun phrase for the error, the condition, the deadline in milliseconds. */
export interface Wait {
  readonly what: string;
  /** Answers true when it holds. It may fail: the last failure is then told when the deadline passes. */
  readonly check: () => Promise<boolean> | boolean;
  readonly deadlineMs: number;
  /** Throws when waiting on is pointless, for example because the process that is waited for has ended. */
  readonly giveUp?: () => void;
}

const pollMs = 40;

/** Waits until the condition holds. Fails with the name of what was waited for when the deadline passes first. */
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

/** Whether a program of this machine answers this GET with a 2xx within two seconds. Fails when it does not answer. */
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
