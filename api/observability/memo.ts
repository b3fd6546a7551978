import type { UsagePart } from "../../crds/usage/usage-parts.ts";
import { BoundedCache } from "../../operator/kit/bounded-cache.ts";
import { type Clock, elapsedMs } from "../../operator/kit/time/clock.ts";
import { laterTurn } from "../../operator/kit/time/yield-if-due.ts";
import type { History } from "../../operator/ports/records.ts";
import type { Rollups } from "../../operator/ports/rollups.ts";

/** Longest delay of changes that only time makes. */
const OLDEST_MS = 60_000;
/** Least time between answers that differ by time alone. */
const STEP_MS = 1_000;
/** Age from which an answer is summed before it is given; a younger one is given, and the next one summed after it. */
const STALE_MS = 2 * STEP_MS;
/** Parts that a step sums anew before they are due, so that they never are all at once: fewer than 60 parts are all renewed in time. */
const RENEWED_A_STEP = 1;

/** Only bounds memory: all sums are due long before. */
const TTL_SECONDS = (2 * OLDEST_MS) / 1000;
const MOST_KEPT = 24;

/** Answer about all environments, added up from sums of parts of them. */
export interface UsageSum<P extends object, A extends object> {
  /** Sum of some environments. It may use nothing else that changes but the stored sums of days. */
  ofPart(records: UsagePart, now: Date): P;
  /** Answer from the sums of all parts. */
  whole(parts: readonly P[], now: Date): A;
}

/** Memo of answers about all environments, until environments, records or the sums of days change. */
export interface Memo {
  /**
   * Answer of the name. Sums again only the parts that have changed, and those whose sums are a minute old. What only time
   * changes is summed after the answer, where the last one is less than two seconds old.
   */
  of<P extends object, A extends object>(name: string, sum: UsageSum<P, A>): A;
}

interface Used {
  readonly usageParts: () => readonly UsagePart[];
  readonly history: Pick<History, "revision">;
  readonly rollups: Pick<Rollups, "summaryRevision">;
  readonly clock: Clock;
}

interface PartSum<P> {
  readonly sum: P;
  readonly at: Date;
}

interface Known<P, A> {
  readonly sums: ReadonlyMap<UsagePart, PartSum<P>>;
  readonly answer: A;
  readonly at: Date;
  readonly revision: number;
}

export function createMemo({ usageParts, history, rollups, clock }: Used): Memo {
  const kept = new BoundedCache<Known<object, object>>({ ttlSeconds: TTL_SECONDS, mostKept: MOST_KEPT });
  const knownOf = <P extends object, A extends object>(key: string) => kept.get(key) as Known<P, A> | undefined;
  const summedAnew = <P extends object, A extends object>(key: string, sum: UsageSum<P, A>): A => {
    const now = clock.now();
    const { revision } = history;
    const parts = usageParts();
    const current = currentSums(parts, knownOf<P, A>(key)?.sums ?? new Map(), now);
    const sums = new Map(parts.map((part) => [part, current.get(part) ?? { sum: sum.ofPart(part, now), at: now }]));
    const wholes = [...sums.values()].map((one) => one.sum);
    const answer = sum.whole(wholes, now);
    kept.set(key, { sums, answer, at: now, revision });
    return answer;
  };
  // At midnight, what was summed of a day in parts is to come from its stored sum.
  const keyOf = (name: string) => JSON.stringify([name, rollups.summaryRevision, utcDay(clock.now())]);
  /** Answers whose next one will be summed. */
  const renewing = new WeakSet<object>();
  const renewLater = async <P extends object, A extends object>(
    name: string,
    known: Known<P, A>,
    sum: UsageSum<P, A>,
  ): Promise<void> => {
    if (renewing.has(known)) return;
    renewing.add(known);
    await laterTurn("background");
    const key = keyOf(name);
    if (kept.get(key) !== known) return;
    try {
      summedAnew(key, sum);
    } catch {
      // The next request meets the error.
      kept.delete(key);
    }
  };
  return {
    of<P extends object, A extends object>(name: string, sum: UsageSum<P, A>): A {
      const key = keyOf(name);
      const known = knownOf<P, A>(key);
      const ageMs = known === undefined ? STALE_MS : elapsedMs(known.at, clock.now());
      if (known?.revision !== history.revision || ageMs >= STALE_MS) return summedAnew(key, sum);
      if (ageMs >= STEP_MS) void renewLater(name, known, sum);
      return known.answer;
    },
  };
}

const utcDay = (now: Date) => now.toISOString().slice(0, 10);

/** Sums that still hold, without the oldest. */
function currentSums<P>(
  parts: readonly UsagePart[],
  known: ReadonlyMap<UsagePart, PartSum<P>>,
  now: Date,
): ReadonlyMap<UsagePart, PartSum<P>> {
  const current = parts
    .flatMap((part) => {
      const found = known.get(part);
      return found !== undefined && elapsedMs(found.at, now) < OLDEST_MS ? [[part, found] as const] : [];
    })
    .sort(([, one], [, other]) => one.at.getTime() - other.at.getTime());
  const oldest = current.filter(([, { at }]) => elapsedMs(at, now) >= STEP_MS);
  const again = new Set(oldest.slice(0, RENEWED_A_STEP).map(([part]) => part));
  return new Map(current.filter(([part]) => !again.has(part)));
}
