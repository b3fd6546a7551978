import type { Log } from "../kit/log.ts";
import type { Clock } from "../kit/time/clock.ts";
import type { RollupContent, RollupStore, SlotCounts, StoredRollup } from "../ports/observability/rollups.ts";
import { dayOf, merged, slotOf } from "./counts.ts";

/** A process that is silent for so long has ended; the names of many that end soon must not fill the rollup. */
const WRITER_FORGOTTEN_MS = 6 * 3_600_000;
/** Processes that end sooner than that; the latest are known. */
const MOST_WRITERS = 256;
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
  /** Called when all that was counted is stored. */
  readonly stored?: () => void;
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
export function createRecorder({ store, writer, clock, log, stored }: RecorderContext): Recorder {
  /** By day and slot. */
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

  /** What has waited until now: what is counted meanwhile waits for the next time, or a busy process would write all the time. */
  async function storeAll(): Promise<void> {
    const days = [...waiting.keys()];
    await storeBatch();
    for (const day of days) {
      batch = batchOf(day);
      await storeBatch();
    }
  }

  /** One that could not be stored stays, for the next time. */
  async function storeBatch(): Promise<void> {
    if (batch !== undefined) await added(batch);
    batch = undefined;
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

  /** Of what waits for an API server that is away, the oldest goes first. */
  function shed(): void {
    const slots = [...waiting].flatMap(([day, ofDay]) => [...ofDay.keys()].map((slot) => [day, slot] as const));
    const surplus = slots.slice(0, Math.max(0, slots.length - MOST_WAITING));
    for (const [day, slot] of surplus) waiting.get(day)?.delete(slot);
    if (surplus.length > 0) log.warn("counts are lost: they waited for too long", { slots: surplus.length });
  }
}
