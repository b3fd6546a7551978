import { NOTIFICATION_PHASES } from "../../../crds/notifications/notification.schema.ts";
import { DELIVERY_PHASES } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { Observed } from "../../ports/observability/metrics.ts";
import type { MetricName } from "./definitions.ts";
import { leaderFigures } from "./leader-figures.ts";
import type { MetricRegistry, Sample } from "./registry.ts";

const ELECTION = "platform";

/** Other metrics read at each scrape. */
export function observedMetrics(registry: MetricRegistry, observed: Observed): void {
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
