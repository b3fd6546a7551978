import type { Clock } from "../../operator/ports/clock.ts";

/** Number of steps of the settling time. */
const STEPS = 10;
/** After this many steps without a request, no load balancer sends any more. */
const SILENT_STEPS = 4;
/** Most steps, also while requests still come. */
const MOST_STEPS = 3 * STEPS;

/**
 * Detects when load balancers have noticed that a server stops. A fixed time is a guess: in a busy cluster, Services
 * lead to a pod seconds after its end was decided. A request proves that one still does.
 */
export function settling(clock: Clock) {
  let requests = 0;
  return {
    requested: () => {
      requests += 1;
    },
    /** Resolves after that time and once requests have ceased, but after three times as long in any case. */
    async settled(settleMs: number): Promise<void> {
      if (settleMs === 0) return;
      await new Promise<void>((resolve) => {
        let seen = requests;
        // Steps are counted, not time: each one first accepts the requests that came while this process had no
        // processor.
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
