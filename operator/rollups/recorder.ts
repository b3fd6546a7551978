import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { RollupContent, RollupStore, SlotCounts, StoredRollup } from "../ports/observability/rollups.ts";
import { dayOf, merged, slotOf } from "./counts.ts";

/** A kill loses no more than was counted in this time. */
export const FLUSH_EVERY_MS = 10_000;
/** A process that is silent for so long has ended; the names of many that end soon must not fill the rollup. */
const WRITER_FORGOTTEN_MS = 6 * 3_600_000;
/** Replicas may write at the same moment. */
const ATTEMPTS = 8;
/** Slots that wait while the API server is away: a day of them. */
const MOST_WAITING = 288;

export interface RecorderContext {
  readonly store: Pick<RollupStore, "find" | "create" | "replace">;
  /** Of this process alone, such as its host's name and random digits. */
  readonly writer: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Counts in memory, and adds the counts to the rollup of their day. */
export interface Recorder {
  count(...counters: readonly string[]): void;
  /** Stores what was counted; never throws: what could not be stored is kept for the next time. */
  flush(): Promise<void>;
}

interface Batch {
  readonly day: string;
  readonly number: number;
  readonly slots: Readonly<Record<string, SlotCounts>>;
}

/**
 * Adds each batch exactly once: the rollup names the last batch of each process, so that one whose write had no answer is
 * not added again.
 */
export function createRecorder({ store, writer, clock, log }: RecorderContext): Recorder {
  /** By day and slot. */
  const waiting = new Map<string, Map<string, Record<string, number>>>();
  let batch: Batch | undefined;
  let number = 0;
  let flushing: Promise<void> | undefined;

  function nextBatch(): Batch | undefined {
    const [day, slots] = [...waiting][0] ?? [];
    if (day === undefined || slots === undefined) return undefined;
    waiting.delete(day);
    number += 1;
    return { day, number, slots: Object.fromEntries(slots) };
  }

  async function storeAll(): Promise<void> {
    for (;;) {
      batch ??= nextBatch();
      if (batch === undefined) return;
      await added(batch);
      batch = undefined;
    }
  }

  async function added(of: Batch): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) if (await isAdded(of)) return;
    throw new Error("the rollup changes all the time");
  }

  async function isAdded(of: Batch): Promise<boolean> {
    const stored = await store.find(of.day);
    if (stored === undefined) return store.create(of.day, contentWith(stored, of));
    // An earlier attempt had no answer, and was taken.
    if ((stored.writers[writer]?.batch ?? 0) >= of.number) return true;
    return store.replace(stored, contentWith(stored, of));
  }

  function contentWith(stored: StoredRollup | undefined, { slots, number: last }: Batch): RollupContent {
    const now = clock.now();
    const isKept = ({ at }: { at: string }) => now.getTime() - Date.parse(at) < WRITER_FORGOTTEN_MS;
    const others = Object.entries(stored?.writers ?? {}).filter(([, one]) => isKept(one));
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

  /** Of what waits for an API server that is away, the oldest goes first. */
  function shed(): void {
    const slots = [...waiting].flatMap(([day, ofDay]) => [...ofDay.keys()].map((slot) => [day, slot] as const));
    const surplus = slots.slice(0, Math.max(0, slots.length - MOST_WAITING));
    for (const [day, slot] of surplus) waiting.get(day)?.delete(slot);
    if (surplus.length > 0) log.warn("counts are lost: they waited for too long", { slots: surplus.length });
  }
}
