import { findCondition } from "../../../crds/conditions.ts";
import { PHASES } from "../../../crds/environment/environment-status.schema.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { deletableFrom } from "../../../crds/environment/lifetime.ts";
import { REST_CAUSES, WAKE_CAUSES } from "../../../crds/environment/past-sleep.schema.ts";
import { shownPhase } from "../../../crds/environment/phase.ts";
import { sleepCause, wakeDueAt } from "../../../crds/environment/sleep.ts";
import { NOTIFICATION_PHASES } from "../../../crds/notifications/notification.schema.ts";
import { type PastSleep, wakeBegin } from "../../../crds/usage/sleeps.ts";
import { DELIVERY_PHASES } from "../../../crds/webhooks/webhook-delivery.schema.ts";
import type { HostCallCounts } from "../../ports/host-technology.ts";
import type { Observed } from "../../ports/metrics.ts";
import type { MetricName } from "./definitions.ts";
import type { MetricRegistry, Sample } from "./registry.ts";

const ELECTION = "platform";

/** Metrics of this process' sources and of all environments: current counts at each scrape, durations as they end. */
export function observedMetrics(registry: MetricRegistry, observed: Observed): void {
  const { watches, hostCalls, isLeading, clock } = observed;
  registry.computed("leader_election_master_status", () => [[{ name: ELECTION }, isLeading() ? 1 : 0]]);
  registry.computed("ephemeral_watch_progress_age_seconds", () =>
    [...watches.progressAgesMs].map(([kind, ageMs]): Sample => [{ kind }, ageMs / 1000]),
  );

  const ofHosts = (name: MetricName, samples: (host: string, calls: HostCallCounts) => Iterable<Sample>) =>
    registry.computed(name, () =>
      Object.entries(hostCalls.snapshot()).flatMap(([host, calls]) => [...samples(host, calls)]),
    );
  ofHosts("ephemeral_host_calls_total", (host, { answers }) =>
    Object.entries(answers).map(([answer, count]): Sample => [{ host, answer }, count]),
  );
  ofHosts("ephemeral_host_call_limits_total", (host, { limited }) => [[{ host }, limited]]);
  ofHosts("ephemeral_host_call_budget", (host, { budget }) => (budget ? [[{ host }, budget.limit]] : []));
  // The rest of an expired window is meaningless: without calls it would be shown for ever.
  ofHosts("ephemeral_host_call_budget_remaining", (host, { budget }) =>
    budget && budget.resetsAt > clock.now() ? [[{ host }, budget.remaining]] : [],
  );

  clusterMetrics(registry, observed);
  durationMetrics(registry, observed);
}

/** Cluster-wide metrics: read at each scrape, and left out by replicas that do not lead. */
function clusterMetrics(registry: MetricRegistry, { caches, isLeading, clock }: Observed): void {
  const environments = () => caches.environments.list();
  const notifications = () => caches.notifications.list();
  const phaseOf = ({ status }: { readonly status?: { readonly phase: string } }) => status?.phase ?? "pending";

  counts("ephemeral_webhook_deliveries", DELIVERY_PHASES, () => caches.webhookDeliveries.list().map(phaseOf));
  counts("ephemeral_notifications", NOTIFICATION_PHASES, () => notifications().map(phaseOf));
  longest("ephemeral_notification_oldest_pending_seconds", () =>
    notifications().map((one) => (phaseOf(one) === "pending" ? one.spec.at : undefined)),
  );
  counts("ephemeral_environments", PHASES, () => environments().map(shownPhase));
  whileLeading("ephemeral_environments_asleep", () => {
    const causes = environments().map(sleepCause);
    return REST_CAUSES.map((cause): Sample => [{ cause }, causes.filter((one) => one === cause).length]);
  });
  const wakesDue = oncePerScrape(() => environments().flatMap((one) => wakeDueAt(one, clock.now()) ?? []));
  whileLeading("ephemeral_environments_waiting_to_wake", () => [[{}, wakesDue().length]]);
  whileLeading("ephemeral_environments_waking", () => {
    return [[{}, environments().filter(({ status }) => status?.sleep?.state === "waking").length]];
  });
  longest("ephemeral_environment_wake_wait_longest_seconds", wakesDue);
  whileLeading("ephemeral_environments_activity_unknown", () => {
    const unknown = environments().filter(({ status }) => findCondition(status?.conditions, "ActivityUnknown"));
    return [[{}, unknown.length]];
  });
  longest("ephemeral_environment_deletion_longest_seconds", () =>
    environments().map(({ metadata }) => metadata.deletionTimestamp),
  );
  longest("ephemeral_environment_expiry_overdue_seconds", () =>
    environments().map((one) => (one.metadata.deletionTimestamp === undefined ? deletableFrom(one) : undefined)),
  );

  function counts(name: MetricName, phases: readonly string[], read: () => readonly string[]): void {
    whileLeading(name, () => {
      const found = Map.groupBy(read(), (phase) => phase);
      return phases.map((phase): Sample => [{ phase }, found.get(phase)?.length ?? 0]);
    });
  }

  /** Age of the oldest, from their starts; 0 without any. */
  function longest(name: MetricName, starts: () => readonly (string | Date | undefined)[]): void {
    whileLeading(name, () => {
      const now = clock.now();
      const ages = starts().map((start) => (start === undefined ? 0 : secondsBetween(start, now)));
      return [[{}, ages.reduce((oldest, age) => Math.max(oldest, age), 0)]];
    });
  }

  function whileLeading(name: MetricName, read: () => Iterable<Sample>): void {
    registry.computed(name, () => (isLeading() ? read() : []));
  }
}

/** Reads once for all metrics of a scrape: prom-client collects them in one go, before any microtask. */
function oncePerScrape<T>(read: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => {
    if (known === undefined) {
      known = { value: read() };
      queueMicrotask(() => {
        known = undefined;
      });
    }
    return known.value;
  };
}

/** Durations of environments, at the change that ends them. */
function durationMetrics(registry: MetricRegistry, { caches, isLeading, clock }: Observed): void {
  const creation = registry.histogram("ephemeral_environment_creation_seconds");
  const creationFailures = registry.counter("ephemeral_environment_creation_failures_total");
  const failures = registry.counter("ephemeral_environment_failures_total");
  const deletion = registry.histogram("ephemeral_environment_deletion_seconds");
  const lateness = registry.histogram("ephemeral_environment_expiry_lateness_seconds");
  const waking = wakeMetrics(registry);

  caches.environments.subscribe((_name, current, previous) => {
    // The first appearance in a cache is no change.
    if (!isLeading() || previous === undefined) return;
    if (current?.metadata.uid === previous.metadata.uid) return changed(current, previous);
    const { deletionTimestamp } = previous.metadata;
    if (deletionTimestamp !== undefined) deletion.observe(secondsBetween(deletionTimestamp, clock.now()));
  });

  function changed(current: EphemeralEnvironment, previous: EphemeralEnvironment): void {
    const [{ readyAt, phase } = {}, before] = [current.status, previous.status];
    if (readyAt !== undefined && before?.readyAt === undefined) {
      creation.observe(secondsBetween(current.metadata.creationTimestamp, readyAt));
    }
    if (phase === "failed" && before?.phase !== "failed") countFailure(current);
    if (previous.metadata.deletionTimestamp === undefined) observeLateness(current);
    waking(current, previous);
  }

  function countFailure({ status }: EphemeralEnvironment): void {
    failures.inc();
    if (status?.readyAt === undefined) creationFailures.inc();
  }

  /** Skips environments that are not deleted, or were before their time. */
  function observeLateness(environment: EphemeralEnvironment): void {
    const { deletionTimestamp } = environment.metadata;
    const due = deletableFrom(environment);
    if (deletionTimestamp === undefined || due === undefined || due > new Date(deletionTimestamp)) return;
    lateness.observe(secondsBetween(due, deletionTimestamp));
  }
}

/** Durations and failures of wakes, from two versions of an environment. */
function wakeMetrics(registry: MetricRegistry) {
  const durations = registry.histogram("ephemeral_environments_wake_duration_seconds");
  const failures = registry.counter("ephemeral_environments_wake_failures_total");
  // Alerts add both up: what is absent until its first count has no rate.
  for (const cause of WAKE_CAUSES) {
    durations.labels({ cause });
    failures.labels({ cause });
  }

  return ({ status }: EphemeralEnvironment, { status: before }: EphemeralEnvironment): void => {
    const last = status?.sleeps?.at(-1);
    if (last?.wokenBy === undefined) return;
    const labels = { cause: last.wokenBy };
    const hasFailed = status?.phase === "failed" && before?.phase !== "failed";
    if (hasFailed && last.awakeAt === undefined) failures.inc(labels);
    const seconds = wakeSeconds(last);
    if (seconds !== undefined && !wasAwake(before, last)) durations.observe(seconds, labels);
  };
}

/** Duration of the wake that ended a sleep; `undefined` until its end. */
function wakeSeconds(sleep: PastSleep): number | undefined {
  const begin = wakeBegin(sleep);
  return begin === undefined || sleep.awakeAt === undefined ? undefined : secondsBetween(begin, sleep.awakeAt);
}

/** True when an environment had answered after this sleep. */
function wasAwake(status: EphemeralEnvironment["status"], sleep: PastSleep): boolean {
  return status?.sleeps?.some(({ since, awakeAt }) => since === sleep.since && awakeAt !== undefined) ?? false;
}

/** Seconds between two moments; 0 when reversed. */
function secondsBetween(from: string | Date, to: string | Date): number {
  return Math.max(0, (new Date(to).getTime() - new Date(from).getTime()) / 1000);
}
