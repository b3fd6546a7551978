import type { Metrics } from "../../ports/metrics.ts";
import { kubeRequestCounter } from "./kube-requests.ts";
import { MetricRegistry, processMetrics } from "./registry.ts";

/** Metrics of the gate's process. */
export interface GateMetrics extends Pick<Metrics, "scrape" | "onKubeRequest"> {
  answered(answer: string): void;
  /** Reads the number of requests that wait at each scrape; call once. */
  observeHeld(read: () => number): void;
}

/** Metrics of the gate, in Prometheus' text format. */
export function gateMetrics(): GateMetrics {
  const registry = new MetricRegistry();
  processMetrics(registry);
  const answers = registry.counter("ephemeral_gate_answers_total");
  return {
    onKubeRequest: kubeRequestCounter(registry),
    answered: (answer) => answers.inc({ answer }),
    observeHeld: (read) => registry.computed("ephemeral_gate_held_requests", () => [[{}, read()]]),
    scrape: () => registry.scrape(),
  };
}
