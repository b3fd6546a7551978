import type { Clock } from "../../operator/kit/time/clock.ts";

const STEPS = 10;
/** Steps without a request after which no load balancer sends any more. */
const SILENT_STEPS = 4;
const MOST_STEPS = 3 * STEPS;

/**
 * Detects when load balancers have noticed that a server stops. A fixed time is a guess: in a busy cluster, Services
 * lead to a pod for seconds, as each request proves.
 */
export function settling(clock: Clock) {
  let requests = 0;
  return {
    requested: () => {
      requests += 1;
    },
    /** Resolves after that time and once requests have ceased, at the latest after three times as long. */
    async settled(settleMs: number): Promise<void> {
      if (settleMs === 0) return;
      await new Promise<void>((resolve) => {
        let seen = requests;
        // Steps are counted, not time: each first accepts the requests that came while this process had no processor.
        const next = (step: number, silent: number) => {
          const isOver = step >= MOST_STEPS || (step >= STEPS && silent >= SILENT_STEPS);
          if (isOver) return resolve();
          clock.setTimer(settleMs / STEPS, () => {
            const isSilent = requests === seen;
            seen = requests;
            next(step + 1, isSilent ? silent + 1 : 0);
          });
        };
        next(0, 0);
      });
    },
  };
}
