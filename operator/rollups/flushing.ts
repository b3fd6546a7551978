import { type Clock, pause } from "../kit/time/clock.ts";
import { STORED_EVERY_MS } from "../ports/observability/rollups.ts";
import type { Recorder } from "./recorder.ts";

/** Longest wait of an ending process for storing its last counts. */
const LAST_FLUSH_MS = 2_000;

/** Stores the counts every ten seconds. @returns a function that ends it and stores the rest */
export function flushRegularly(recorder: Pick<Recorder, "flush">, clock: Clock): () => Promise<void> {
  const ended = new AbortController();
  const flushing = (async () => {
    while (!ended.signal.aborted) {
      await pause(clock, STORED_EVERY_MS, ended.signal);
      if (!ended.signal.aborted) await recorder.flush();
    }
  })();
  return async () => {
    ended.abort();
    // The timer must not outlive the flush, or the process would wait for it.
    const stored = new AbortController();
    const last = flushing.then(() => recorder.flush()).finally(() => stored.abort());
    await Promise.race([last, pause(clock, LAST_FLUSH_MS, stored.signal)]);
  };
}
