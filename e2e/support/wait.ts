import { setTimeout as pause } from "node:timers/promises";

/** Waits for something that kubectl can't wait for: what it is, whether it is so, and for how long. */
export interface Wait {
  /** A noun phrase for the error; a function tells what there was instead. */
  readonly what: string | (() => string);
  /** An error of it ends the wait. */
  readonly check: () => Promise<boolean> | boolean;
  readonly deadlineMs: number;
  readonly pollMs?: number;
}

/** Fails, saying what did not come, when the deadline passes first. */
export async function waitUntil({ what, check, deadlineMs, pollMs = 100 }: Wait): Promise<void> {
  const giveUpAt = performance.now() + deadlineMs;
  while (!(await check())) {
    const missing = () => (typeof what === "string" ? what : what());
    if (performance.now() > giveUpAt) throw new Error(`${missing()} did not come within ${deadlineMs / 1000} s`);
    await pause(pollMs);
  }
}
