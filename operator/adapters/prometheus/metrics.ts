import type { Metrics, RequestMetrics, ServiceCallInterceptor } from "../../ports/metrics.ts";
import { controllerMetrics } from "./controllers.ts";
import { kubeRequestCounter } from "./kube-requests.ts";
import { observedMetrics } from "./observed.ts";
import { MetricRegistry, processMetrics } from "./registry.ts";

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
    observe: (observed) => observedMetrics(registry, observed),
    scrape: () => registry.scrape(),
  };
}

/** Metrics of the REST interface: rate, errors and duration per route. */
function requestMetrics(registry: MetricRegistry): RequestMetrics {
  const total = registry.counter("http_requests_total");
  const duration = registry.histogram("http_request_duration_seconds");
  const inFlight = registry.gauge("http_requests_in_flight");
  return {
    begun: () => inFlight.inc(),
    ended({ method, route, status, durationMs, isStream }) {
      inFlight.dec();
      // Unknown paths are arbitrary text.
      const labels = route === undefined ? { method: "other", route: "none" } : { method, route };
      total.inc({ ...labels, code: String(status) });
      if (!isStream) duration.observe(durationMs / 1000, labels);
    },
  };
}

function serviceCallCounter(registry: MetricRegistry): ServiceCallInterceptor {
  const total = registry.counter("ephemeral_service_calls_total");
  const duration = registry.histogram("ephemeral_service_call_duration_seconds");
  return async ({ service, operation }, next) => {
    const startedMs = performance.now();
    let outcome: "ok" | "error" = "error";
    try {
      const answer = await next();
      outcome = "ok";
      return answer;
    } finally {
      total.inc({ service, operation, outcome });
      duration.observe((performance.now() - startedMs) / 1000, { service, operation });
    }
  };
}
