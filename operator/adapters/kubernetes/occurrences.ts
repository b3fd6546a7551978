import type { Clock } from "../../kit/time/clock.ts";
import { type TokenBucket, tokenBucket } from "../../kit/time/rate-limits.ts";

/** Equal events about one object within an hour: one Event, with a series after the first. */
export interface Occurrence {
  /** Microseconds since 1970. */
  readonly firstAt: number;
  lastAt: number;
  count: number;
  /** Stored count; 0 before the Event exists. */
  stored: number;
  /** True when another process created the Event and counts. */
  isOthers: boolean;
  /** Resolves when all sent writes are answered. */
  sent: Promise<void>;
}

/** The API server drops Events after an hour. */
export const HOUR_MS = 3_600_000;
/** Event budget of an object: at once, and then per second. */
const [BURST, PER_SECOND] = [20, 1 / 60];

interface Subject {
  readonly budget: TokenBucket;
  readonly occurrences: Map<string, Occurrence>;
  usedAtMs: number;
}

/** Remembers the events of the last hour by object. */
export function createOccurrences(clock: Clock) {
  /** Subjects by object, longest unused first. */
  const subjects = new Map<string, Subject>();
  const moment = moments(clock);

  /** After an hour without events an object has its whole budget again, and nothing to continue. */
  const subjectOf = (about: string): Subject => {
    const usedAtMs = clock.monotonicMs();
    for (const [key, { usedAtMs: at }] of subjects) {
      if (usedAtMs - at < HOUR_MS) break;
      subjects.delete(key);
    }
    const known = subjects.get(about) ?? newSubject(clock);
    subjects.delete(about);
    subjects.set(about, known);
    known.usedAtMs = usedAtMs;
    return known;
  };

  return {
    /**
     * Counts an event.
     *
     * @param isLimited true when the object has a budget
     * @returns `isDue`: true when it may be written now
     */
    note(
      about: string,
      content: string,
      isLimited: boolean,
    ): { readonly occurrence: Occurrence; readonly isDue: boolean } {
      const { budget, occurrences } = subjectOf(about);
      const at = moment();
      for (const [key, { firstAt }] of occurrences) {
        if (Math.abs(at - firstAt) < HOUR_MS * 1000) break;
        occurrences.delete(key);
      }
      const occurrence = occurrences.get(content) ?? newOccurrence(at);
      occurrences.set(content, occurrence);
      occurrence.lastAt = at;
      occurrence.count += 1;
      return { occurrence, isDue: !isLimited || budget.take() };
    },
    get size() {
      return subjects.size;
    },
  };
}

function newSubject(clock: Clock): Subject {
  return { budget: tokenBucket(clock, PER_SECOND, BURST / PER_SECOND), occurrences: new Map(), usedAtMs: 0 };
}

function newOccurrence(at: number): Occurrence {
  return { firstAt: at, lastAt: at, count: 0, stored: 0, isOthers: false, sent: Promise.resolve() };
}

/** Moments within a millisecond ascend, so that events keep their order. */
function moments(clock: Clock): () => number {
  let [latestMs, serial] = [0, 0];
  return () => {
    const nowMs = clock.now().getTime();
    serial = nowMs === latestMs ? Math.min(serial + 1, 999) : 0;
    latestMs = nowMs;
    return nowMs * 1000 + serial;
  };
}
