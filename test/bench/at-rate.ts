/** How often work begins, and for how long. */
export interface Rate {
  /** Begun a second, whether what was begun before has ended or not. */
  readonly perSecond: number;
  readonly seconds: number;
}

/** Begins work at a fixed rate; answers what each took in ms, from the moment at which it was due: a late start counts as slow. */
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

/** Timers fire a millisecond late; the last one is waited for turn by turn, so that the sender's lateness is small. */
async function untilDue(dueMs: number): Promise<void> {
  const leftMs = dueMs - performance.now();
  if (leftMs > 2) await new Promise((resolve) => setTimeout(resolve, leftMs - 2));
  while (performance.now() < dueMs) await new Promise((resolve) => setImmediate(resolve));
}
