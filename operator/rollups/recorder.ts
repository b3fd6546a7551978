import { HOUR_MS } from "../../crds/durations.ts";
import { dayOf, merged, type Rollup, type Slots, STORED_EVERY_MS, slotOf } from "../../crds/usage/rollup.ts";
import type { Log } from "../kit/log.ts";
import { type Clock, pause } from "../kit/time/clock.ts";
import type { RollupStore, StoredRollup } from "../ports/rollups.ts";

/** A process silent for this long has ended; names of many short-lived ones must not fill the rollup. */
const WRITER_FORGOTTEN_MS = 6 * HOUR_MS;
const MOST_WRITERS = 256;
const ATTEMPTS = 8;
/** Limit on slots waiting for the API server: a day of them. */
const MOST_WAITING = 288;

interface RecorderDependencies {
  readonly store: RollupStore;
  /** Unique to this process, such as its host's name and random digits. */
  readonly writer: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Called when all counts are stored. */
  readonly stored?: () => void;
}

/** Counts in memory, and adds the counts to their day's rollup. */
export interface Recorder {
  count(...counters: readonly string[]): void;
  /** Stores the counts; never throws: unstored ones are kept for the next time. */
  flush(): Promise<void>;
}

interface Batch {
  readonly day: string;
  readonly number: number;
  readonly slots: Slots;
}

/**
 * Recorder that adds each batch exactly once: the rollup names each process's last batch, so that one with an
 * unanswered write is not added again.
 */
export function createRecorder({ store, writer, clock, log, stored }: RecorderDependencies): Recorder {
  /** Counts by day and slot. */
  const waiting = new Map<string, Map<string, Record<string, number>>>();
  let batch: Batch | undefined;
  let number = 0;
  let flushing: Promise<void> | undefined;

  function batchOf(day: string): Batch {
    const slots = waiting.get(day) ?? [];
    waiting.delete(day);
    number += 1;
    return { day, number, slots: Object.fromEntries(slots) };
  }

  /**
   * Stores what has waited until now: later counts wait for the next time, or a busy process would write constantly.
   */
  async function storeAll(): Promise<void> {
    const days = [...waiting.keys()];
    await storeBatch();
    for (const day of days) {
      batch = batchOf(day);
      await storeBatch();
    }
  }

  /** An unstored batch stays for the next time. */
  async function storeBatch(): Promise<void> {
    const pending = batch;
    if (pending !== undefined) await changeRollup(store, pending.day, (rollup) => contentWith(rollup, pending));
    batch = undefined;
  }

  function contentWith(stored: StoredRollup | undefined, { slots, number: last }: Batch): Rollup | undefined {
    // An earlier, unanswered attempt succeeded.
    if ((stored?.writers[writer]?.batch ?? 0) >= last) return undefined;
    const now = clock.now();
    const isKept = ({ at }: { at: string }) => now.getTime() - Date.parse(at) < WRITER_FORGOTTEN_MS;
    const others = Object.entries(stored?.writers ?? {})
      .filter(([name, one]) => name !== writer && isKept(one))
      .sort(([, one], [, other]) => Date.parse(other.at) - Date.parse(one.at))
      .slice(0, MOST_WRITERS - 1);
    return {
      summary: stored?.summary,
      slots: merged(stored?.slots ?? {}, slots),
      writers: { ...Object.fromEntries(others), [writer]: { batch: last, at: now.toISOString() } },
    };
  }

  return {
    count(...counters) {
      const now = clock.now();
      const [day, slot] = [dayOf(now), slotOf(now)];
      const slots = waiting.get(day) ?? new Map<string, Record<string, number>>();
      waiting.set(day, slots);
      const counts = slots.get(slot) ?? {};
      slots.set(slot, counts);
      for (const counter of counters) counts[counter] = (counts[counter] ?? 0) + 1;
    },
    flush() {
      flushing ??= storeAll()
        .then(stored)
        .catch((error: unknown) => {
          log.warn("what was counted is not stored yet", { error });
          shed();
        })
        .finally(() => {
          flushing = undefined;
        });
      return flushing;
    },
  };

  /** Drops the oldest of too many waiting slots. */
  function shed(): void {
    const slots = [...waiting].flatMap(([day, ofDay]) => [...ofDay.keys()].map((slot) => [day, slot] as const));
    const surplus = slots.slice(0, Math.max(0, slots.length - MOST_WAITING));
    for (const [day, slot] of surplus) waiting.get(day)?.delete(slot);
    if (surplus.length > 0) log.warn("counts are lost: they waited for too long", { slots: surplus.length });
  }
}

/**
 * Changes a day's rollup. Replicas may write at the same moment: then `change` is called again, with the newer one.
 *
 * @param change answers the new content; `undefined`: nothing to write
 */
export async function changeRollup(
  store: RollupStore,
  day: string,
  change: (stored: StoredRollup | undefined) => Rollup | undefined,
): Promise<void> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const stored = await store.find(day);
    const content = change(stored);
    if (content === undefined) return;
    if (await (stored === undefined ? store.create(day, content) : store.replace(stored, content))) return;
  }
  throw new Error(`the rollup of ${day} changes all the time`);
}

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
