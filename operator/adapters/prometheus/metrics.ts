import { NOTIFICATION_PHASES } from "../../../crds/notifications/notification.schema.ts";
import { DELIVERY_PHASES } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { RequestInterceptor, Verb } from "../../kit/client/request.ts";
import type { RequestMetrics } from "../../ports/api/request-metrics.ts";
import type { Metrics, Observed, ServiceCallInterceptor } from "../../ports/observability/metrics.ts";
import { controllerMetrics } from "./controllers.ts";
import type { MetricName } from "./definitions.ts";
import { environmentMetrics } from "./environments.ts";
import { leaderFigures } from "./leader-figures.ts";
import { processMetrics } from "./process.ts";
import { MetricRegistry, type Sample } from "./registry.ts";

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

const ELECTION = "platform";

/** Other metrics read at each scrape. */
function observedMetrics(registry: MetricRegistry, observed: Observed): void {
  const { caches, watches, hostCalls, isLeading, clock } = observed;
  registry.computed("leader_election_master_status", () => [[{ name: ELECTION }, isLeading() ? 1 : 0]]);
  registry.computed("ephemeral_watch_progress_age_seconds", () =>
    [...watches.progressAgesMs].map(([kind, ageMs]): Sample => [{ kind }, ageMs / 1000]),
  );

  const figures = leaderFigures(registry, observed);
  const phaseOf = ({ status }: { readonly status?: { readonly phase: string } }) => status?.phase ?? "pending";
  figures.counts("ephemeral_webhook_deliveries", DELIVERY_PHASES, () => caches.webhookDeliveries.list().map(phaseOf));
  figures.counts("ephemeral_notifications", NOTIFICATION_PHASES, () => caches.notifications.list().map(phaseOf));
  figures.longest("ephemeral_notification_oldest_pending_seconds", () =>
    caches.notifications.list().map((one) => (phaseOf(one) === "pending" ? one.spec.at : undefined)),
  );

  const ofHosts = (name: MetricName, samples: (host: string, calls: ReturnType<Read>[string]) => Iterable<Sample>) =>
    registry.computed(name, () =>
      Object.entries(hostCalls.snapshot()).flatMap(([host, calls]) => [...samples(host, calls)]),
    );
  type Read = typeof hostCalls.snapshot;
  ofHosts("ephemeral_host_calls_total", (host, { answers }) =>
    Object.entries(answers).map(([answer, count]): Sample => [{ host, answer }, count]),
  );
  ofHosts("ephemeral_host_call_limits_total", (host, { limited }) => [[{ host }, limited]]);
  ofHosts("ephemeral_host_call_budget", (host, { budget }) => (budget ? [[{ host }, budget.limit]] : []));
  // The rest of an expired window is meaningless: without calls it would be shown for ever.
  ofHosts("ephemeral_host_call_budget_remaining", (host, { budget }) =>
    budget && budget.resetsAt > clock.now() ? [[{ host }, budget.remaining]] : [],
  );
}

/** Route of unknown paths, which are arbitrary text. */
const NO_ROUTE = "none";

/** Metrics of the REST interface: rate, errors and duration per route. */
function requestMetrics(registry: MetricRegistry): RequestMetrics {
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
function kubeRequestCounter(registry: MetricRegistry): RequestInterceptor {
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
