import type { Metrics } from "../../ports/observability/metrics.ts";
import { controllerMetrics } from "./controllers.ts";
import { environmentMetrics } from "./environments.ts";
import { observedMetrics } from "./observed.ts";
import { processMetrics } from "./process.ts";
import { MetricRegistry } from "./registry.ts";
import { kubeRequestCounter, requestMetrics } from "./requests.ts";
import { serviceCallCounter } from "./services.ts";

/** Metrics port, in Prometheus' text format. `definitions.ts` has the list. */
export function prometheusMetrics(): Metrics {
  const registry = new MetricRegistry();
  processMetrics(registry);
  const webhooks = registry.counter("ephemeral_webhooks_total");
  const loops = registry.gauge("ephemeral_loop_last_success_timestamp_seconds");
  return {
    controllers: controllerMetrics(registry),
    requests: requestMetrics(registry),
    onKubeRequest: kubeRequestCounter(registry),
    webhookEnded: (source, outcome) => webhooks.inc({ source, outcome }),
    loopSucceeded: (loop) => loops.setToCurrentTime({ loop }),
    onServiceCall: serviceCallCounter(registry),
    observe(observed) {
      observedMetrics(registry, observed);
      environmentMetrics(registry, observed);
    },
    async scrape() {
      return { contentType: registry.prometheus.contentType, text: await registry.prometheus.metrics() };
    },
  };
}
