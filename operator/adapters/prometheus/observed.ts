import { NOTIFICATION_PHASES } from "../../../crds/notifications/notification.schema.ts";
import { DELIVERY_PHASES } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { Observed } from "../../ports/metrics.ts";
import type { MetricName } from "./definitions.ts";
import type { MetricRegistry, Sample } from "./registry.ts";

/** The election that replicas take part in. */
const ELECTION = "platform";

/** What is read at each scrape, beside environments. */
export function observedMetrics(registry: MetricRegistry, observed: Observed): void {
  const { caches, watches, hostCalls, isLeading, clock } = observed;
  registry.computed("leader_election_master_status", () => [[{ name: ELECTION }, isLeading() ? 1 : 0]]);
  registry.computed("ephemeral_watch_progress_age_seconds", () =>
    [...watches.progressAgesMs].map(([kind, ageMs]): Sample => [{ kind }, ageMs / 1000]),
  );

  const byPhase = (
    name: MetricName,
    phases: readonly string[],
    read: () => readonly { status?: { phase: string } }[],
  ) =>
    registry.computed(name, function* () {
      if (!isLeading()) return;
      const found = Map.groupBy(read(), ({ status }) => status?.phase ?? "pending");
      for (const phase of phases) yield [{ phase }, found.get(phase)?.length ?? 0];
    });
  byPhase("ephemeral_webhook_deliveries", DELIVERY_PHASES, () => caches.webhookDeliveries.list());
  byPhase("ephemeral_notifications", NOTIFICATION_PHASES, () => caches.notifications.list());
  registry.computed("ephemeral_notification_oldest_pending_seconds", function* () {
    if (!isLeading()) return;
    const waiting = caches.notifications.list().filter(({ status }) => (status?.phase ?? "pending") === "pending");
    const ages = waiting.map(({ spec }) => (clock.now().getTime() - Date.parse(spec.at)) / 1000);
    yield [{}, ages.reduce((longest, age) => Math.max(longest, age), 0)];
  });

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
  // What was left of a window that is over says nothing: without calls it would be shown for ever.
  ofHosts("ephemeral_host_call_budget_remaining", (host, { budget }) =>
    budget && budget.resetsAt > clock.now() ? [[{ host }, budget.remaining]] : [],
  );
}
