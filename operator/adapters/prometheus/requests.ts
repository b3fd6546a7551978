import type { RequestSeam, Verb } from "../../kit/client/request.ts";
import type { RequestMetrics } from "../../ports/facade/request-metrics.ts";
import type { MetricRegistry } from "./registry.ts";

/** Route of unknown paths, which are arbitrary text. */
const NO_ROUTE = "none";

/** Metrics of the REST interface: rate, errors and duration per route. */
export function requestMetrics(registry: MetricRegistry): RequestMetrics {
  const total = registry.counter("http_requests_total");
  const duration = registry.histogram("http_request_duration_seconds");
  const inFlight = registry.gauge("http_requests_in_flight");
  return {
    begun: () => inFlight.inc(),
    ended({ method, route, status, durationMs, isStream }) {
      inFlight.dec();
      const labels = route === undefined ? { method: "other", route: NO_ROUTE } : { method, route };
      total.inc({ ...labels, code: String(status) });
      if (!isStream) duration.observe(durationMs / 1000, labels);
    },
  };
}

const METHODS: Readonly<Record<Verb, string>> = {
  get: "GET",
  list: "GET",
  watch: "GET",
  version: "GET",
  create: "POST",
  update: "PUT",
  patch: "PATCH",
  delete: "DELETE",
};

/** Counts calls to the API server, like client-go. */
export function kubeRequestCounter(registry: MetricRegistry): RequestSeam {
  const total = registry.counter("rest_client_requests_total");
  return (request, next) => {
    const method = METHODS[request.verb];
    const answered = next();
    answered.then(
      ({ status }) => total.inc({ method, code: String(status) }),
      () => total.inc({ method, code: "<error>" }),
    );
    return answered;
  };
}
