import NodeCache from "node-cache";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { History } from "../../operator/ports/records.ts";
import type { Rollups } from "../../operator/ports/rollups.ts";

/** Longest delay of changes that only time makes. */
const STEP_MS = 60_000;

/** Only bounds memory: an answer is never older than its sources, and a step has ended long before. */
const TTL_SECONDS = (2 * STEP_MS) / 1000;
const MOST_KEPT = 100;

/** Memo of expensive answers, until environments, records or the sums of days change. */
export interface Memo {
  /**
   * Answer of the key, computed once for each change, and once for each minute without one.
   *
   * @param compute gets the time; it may use nothing else that changes, such as counts of requests
   */
  of<A extends object>(key: string, compute: (now: Date) => A): A;
}

interface Used {
  readonly history: Pick<History, "revision">;
  readonly rollups: Pick<Rollups, "summaryRevision">;
  readonly clock: Clock;
}

export function createMemo({ history, rollups, clock }: Used): Memo {
  const kept = new NodeCache({ stdTTL: TTL_SECONDS, useClones: false, maxKeys: MOST_KEPT, checkperiod: 0 });
  return {
    of<A extends object>(key: string, compute: (now: Date) => A): A {
      const now = clock.now();
      const step = Math.floor(now.getTime() / STEP_MS);
      const whole = JSON.stringify([key, step, history.revision, rollups.summaryRevision]);
      const known = kept.get<A>(whole);
      if (known !== undefined) return known;
      const answer = compute(now);
      // A full cache accepts nothing, so it begins anew.
      if (kept.keys().length >= MOST_KEPT) kept.flushAll();
      kept.set(whole, answer);
      return answer;
    },
  };
}
