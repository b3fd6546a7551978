import type { Clock } from "../../../kit/time/clock.ts";

/** Silence that ends a burst: parallel creations may all pause for a moment. */
const QUIET_MS = 1_000;
const EVERY_MS = 100;

/**
 * Delays low-priority work until the end of a burst of other work. Call the answered function with each piece: its
 * promise resolves after a second without another; during the burst one resolves every tenth of a second, longest
 * waiting first.
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
