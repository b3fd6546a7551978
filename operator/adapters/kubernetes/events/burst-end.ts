import type { Clock } from "../../../kit/time/clock.ts";

/** So long after the last piece a burst is over: environments that are made side by side may all be halfway for a moment. */
const QUIET_MS = 1_000;
/** While it lasts, one goes on so often. */
const EVERY_MS = 100;

/**
 * Makes work that nothing waits for wait for the end of a burst of other work. The function that it answers is called with
 * each piece of the burst. What it answers resolves when none has come for a second; while the burst lasts, the longest waiting
 * one resolves in each tenth of a second, so that a burst pays for ten of them a second at most.
 */
export function burstEnd(clock: Clock): () => Promise<void> {
  const waiting: (() => void)[] = [];
  let lastMs = 0;

  async function letGo(): Promise<void> {
    let nextMs = clock.monotonicMs() + EVERY_MS;
    while (waiting.length > 0) {
      const nowMs = clock.monotonicMs();
      const restMs = Math.min(lastMs + QUIET_MS, nextMs) - nowMs;
      if (restMs > 0) await new Promise<void>((resolve) => clock.setTimer(restMs, resolve));
      else {
        goOn(lastMs + QUIET_MS <= nowMs ? waiting.length : 1);
        nextMs = nowMs + EVERY_MS;
      }
    }
  }

  function goOn(count: number): void {
    for (const begin of waiting.splice(0, count)) begin();
  }

  return () => {
    lastMs = clock.monotonicMs();
    const { promise, resolve } = Promise.withResolvers<void>();
    if (waiting.push(resolve) === 1) void letGo();
    return promise;
  };
}
