import type { Observed } from "../../ports/metrics.ts";
import type { MetricName } from "./definitions.ts";
import type { MetricRegistry, Sample } from "./registry.ts";

/** Seconds between two moments; 0 when reversed. */
export function secondsBetween(from: string | Date, to: string | Date): number {
  return Math.max(0, (new Date(to).getTime() - new Date(from).getTime()) / 1000);
}

/** Cluster-wide metrics: read at each scrape, and left out by replicas that do not lead. */
export function leaderFigures(registry: MetricRegistry, { isLeading, clock }: Pick<Observed, "isLeading" | "clock">) {
  const whileLeading = (name: MetricName, read: () => Iterable<Sample>) =>
    registry.computed(name, () => (isLeading() ? read() : []));
  return {
    counts(name: MetricName, phases: readonly string[], read: () => readonly string[]): void {
      whileLeading(name, () => {
        const found = Map.groupBy(read(), (phase) => phase);
        return phases.map((phase): Sample => [{ phase }, found.get(phase)?.length ?? 0]);
      });
    },
    /** Age of the oldest, from their starts; 0 without any. */
    longest(name: MetricName, begins: () => readonly (string | Date | undefined)[]): void {
      whileLeading(name, () => {
        const now = clock.now();
        const ages = begins().map((begin) => (begin === undefined ? 0 : secondsBetween(begin, now)));
        return [[{}, ages.reduce((longest, age) => Math.max(longest, age), 0)]];
      });
    },
  };
}
