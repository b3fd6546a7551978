import type { Clock } from "../../../kit/time/clock.ts";
import { type TokenBucket, tokenBucket } from "../../../kit/time/token-bucket.ts";

/** The same event about the same object within an hour: one Event, with a series when it happened again. */
export interface Occurrence {
  /** In microseconds since 1970. */
  readonly firstAt: number;
  lastAt: number;
  count: number;
  /** The count that is stored; 0 before the Event is made. */
  stored: number;
  /** Whether another process made the Event: it counts. */
  isOthers: boolean;
  /** Resolves when what was sent so far is answered. */
  sent: Promise<void>;
}

/** The API server drops Events after an hour. */
export const HOUR_MS = 3_600_000;
/** What an object may have recorded at once, and after that each second. */
const [BURST, PER_SECOND] = [20, 1 / 60];

interface Subject {
  readonly budget: TokenBucket;
  /** By content, the oldest first. */
  readonly occurrences: Map<string, Occurrence>;
  usedAtMs: number;
}

/** Remembers what was recorded within the hour, by the object that it was about. */
export function createOccurrences(clock: Clock) {
  /** By the object, the longest unused first. */
  const subjects = new Map<string, Subject>();
  const moment = moments(clock);

  /** Whoever was not heard of for an hour has its whole budget again, and nothing to continue. */
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
     * @param isLimited whether the object has a budget
     * @returns `isDue`: whether it may be written now
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
    /** How many objects are remembered. */
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

/** The moments of one millisecond follow each other, so that events keep their order. */
function moments(clock: Clock): () => number {
  let [latestMs, serial] = [0, 0];
  return () => {
    const nowMs = clock.now().getTime();
    serial = nowMs === latestMs ? Math.min(serial + 1, 999) : 0;
    latestMs = nowMs;
    return nowMs * 1000 + serial;
  };
}
