import { median, quantile } from "../table.ts";

/** Statistics of samples in a line, in milliseconds. */
export function spread(samples: readonly number[]): string {
  const [p50, p99] = [median(samples), quantile(samples, 0.99)];
  return `p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms, longest ${Math.max(...samples).toFixed(1)} ms, n=${samples.length}`;
}
