import { monitorEventLoopDelay } from "node:perf_hooks";

/** Delays in milliseconds. */
export interface Delays {
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
}

/** The delays of this process's event loop: the time between two turns of a 1 ms timer. */
export function eventLoopDelays() {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  return {
    restart: () => histogram.reset(),
    delays: (): Delays => {
      const [p50, p99] = [50, 99].map((percent) => histogram.percentile(percent) / 1e6) as [number, number];
      return { p50, p99, longest: histogram.max / 1e6 };
    },
  };
}
