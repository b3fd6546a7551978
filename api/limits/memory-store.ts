import type { Clock } from "../../operator/kit/time/clock.ts";

/** More keys within a minute are a flood; this many take less than 20 MB. */
const MAX_KEYS = 50_000;

/** Count of a key in its window. */
export interface MemoryCount {
  /** Requests in the window, with this one. */
  readonly total: number;
  readonly leftMs: number;
}

/** Counts this process's requests by key, in windows of one length from a key's first request on. */
export interface MemoryStore {
  increment(key: string): MemoryCount;
  total(key: string): number;
  readonly size: number;
}

interface Window {
  total: number;
  readonly endsAtMs: number;
}

/**
 * Counters in bounded memory. A key stays until its window ends: a flood of made-up keys can't reset any count. Keys
 * beyond the bound share one counter, so the flood limits itself.
 */
export function memoryStore(
  clock: Clock,
  { windowMs, maxKeys = MAX_KEYS }: { windowMs: number; maxKeys?: number },
): MemoryStore {
  // In the order of their begins, and so of their ends.
  const windows = new Map<string, Window>();
  let shared: Window = { total: 0, endsAtMs: 0 };
  const begin = (nowMs: number): Window => ({ total: 0, endsAtMs: nowMs + windowMs });
  const forgetEnded = (nowMs: number) => {
    for (const [key, { endsAtMs }] of windows) {
      if (endsAtMs > nowMs) return;
      windows.delete(key);
    }
  };
  const windowOf = (key: string, nowMs: number): Window => {
    const known = windows.get(key);
    if (known !== undefined) return known;
    if (windows.size >= maxKeys) {
      if (shared.endsAtMs <= nowMs) shared = begin(nowMs);
      return shared;
    }
    const begun = begin(nowMs);
    windows.set(key, begun);
    return begun;
  };
  return {
    increment: (key) => {
      const nowMs = clock.monotonicMs();
      forgetEnded(nowMs);
      const window = windowOf(key, nowMs);
      window.total += 1;
      return { total: window.total, leftMs: window.endsAtMs - nowMs };
    },
    total: (key) => {
      const window = windows.get(key) ?? (windows.size < maxKeys ? undefined : shared);
      return window !== undefined && window.endsAtMs > clock.monotonicMs() ? window.total : 0;
    },
    get size() {
      return windows.size;
    },
  };
}
