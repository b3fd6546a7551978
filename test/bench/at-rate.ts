import { setTimeout as pause } from "node:timers/promises";

/** The rate and the duration of work. */
export interface Rate {
  /** Starts a second, independent of earlier work's end. */
  readonly perSecond: number;
  readonly seconds: number;
}

/** Starts work at a fixed rate; answers each duration in ms, from its due time: a late start counts as slow. */
export async function atRate(
  { perSecond, seconds }: Rate,
  work: (index: number) => Promise<unknown>,
): Promise<number[]> {
  const began = performance.now();
  const took: Promise<number>[] = [];
  for (let index = 0; index < perSecond * seconds; index += 1) {
    const dueMs = began + (index * 1000) / perSecond;
    await untilDue(dueMs);
    took.push(work(index).then(() => performance.now() - dueMs));
  }
  return Promise.all(took);
}

/** Timers fire a millisecond late; the last one is spent turn by turn, so that the sender's delay is small. */
async function untilDue(dueMs: number): Promise<void> {
  const leftMs = dueMs - performance.now();
  if (leftMs > 2) await pause(leftMs - 2);
  while (performance.now() < dueMs) await new Promise((resolve) => setImmediate(resolve));
}
