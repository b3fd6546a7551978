import { setTimeout as pause } from "node:timers/promises";

/** A wait beyond `kubectl wait`: the subject, the condition and the deadline. */
export interface Wait {
  /** A noun phrase for the error; a function describes the actual state. */
  readonly what: string | (() => string);
  /** An error ends the wait. */
  readonly check: () => Promise<boolean> | boolean;
  readonly deadlineMs: number;
  readonly pollMs?: number;
}

/** Fails at the deadline, naming the missing thing. */
export async function waitUntil({ what, check, deadlineMs, pollMs = 100 }: Wait): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs;
  while (!(await check())) {
    const missing = () => (typeof what === "string" ? what : what());
    if (performance.now() > giveUpAt) throw new Error(`${missing()} did not come within ${deadlineMs / 1000} s`);
    await pause(pollMs);
  }
}
