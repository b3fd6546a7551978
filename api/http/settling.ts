import type { Clock } from "../../operator/ports/clock.ts";

/** Into so many steps the settling time is divided. */
const STEPS = 10;
/** After this many steps without a request, no load balancer sends any more. */
const SILENT_STEPS = 4;
/** The most steps, also while requests still come. */
const MOST_STEPS = 3 * STEPS;

/**
 * Tells when load balancers have noticed that a server is about to stop. A fixed time is a guess: where the cluster is busy,
 * its Services still lead to a pod seconds after its end was decided. A request that comes is proof that one still does.
 */
export function settling(clock: Clock) {
  let requests = 0;
  return {
    /** A request has come. */
    requested: () => {
      requests += 1;
    },
    /** Resolves after that time, or as soon as requests have ceased, but after three times as long in any case. */
    async settled(settleMs: number): Promise<void> {
      if (settleMs === 0) return;
      await new Promise<void>((resolve) => {
        let seen = requests;
        // Steps are counted, not time: after each one, what came while this process had no processor is taken in first.
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
