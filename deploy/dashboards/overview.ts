import * as units from "@grafana/grafana-foundation-sdk/units";
import type { Board } from "./board.ts";
import { burnRate, FAST_BURN, goodShare, OBJECTIVES } from "./objectives.ts";
import { messages, restInterface, webhooks } from "./overview-traffic.ts";
import { figure, graph } from "./panels.ts";
import { AN_HOUR, gauge, type Histogram, histogram, increase } from "./queries.ts";

const environments = gauge("ephemeral_environments").sum();
const quantiles = (of: Histogram<never>) => ({ p50: of.quantile(0.5), p95: of.quantile(0.95) });
const OF_AN_HOUR = "Of the last hour at each point, because there may be few.";
const OF_WHAT_IS_SHOWN =
  "Of the time that is shown, as counters tell. `GET /api/observability/slo/status` tells it from what the platform has stored.";

const now = [
  figure({
    title: "Environments",
    description: "Environments that there are, in whatever phase.",
    unit: units.NoUnit,
    queries: { environments },
  }),
  figure({
    title: "Ready",
    description: "Environments that can be used, and those that sleep.",
    unit: units.NoUnit,
    queries: { ready: gauge("ephemeral_environments", { phase: "ready" }).sum() },
  }),
  figure({
    title: "Failed",
    description: "The share of environments that are failed now. Most failures are of what users deploy.",
    unit: units.PercentUnit,
    queries: { failed: gauge("ephemeral_environments", { phase: "failed" }).sum().dividedBy(environments) },
  }),
  figure({
    title: "Leaders",
    description:
      "Replicas that lead. It has to be one: without a leader nothing is reconciled. Of several installations, choose one above.",
    unit: units.NoUnit,
    queries: { leaders: gauge("leader_election_master_status", { name: "platform" }).sum() },
    bad: { not: 1 },
    alerts: ["EphemeralLeaders"],
  }),
  figure({
    title: "Longest deletion",
    description: "For how long the environment that is being deleted the longest has been; 0 without any.",
    unit: units.Seconds,
    queries: { "longest deletion": gauge("ephemeral_environment_deletion_longest_seconds").max() },
    bad: { above: 900 },
    alerts: ["EphemeralDeletionStuck"],
  }),
  figure({
    title: "Expired and there",
    description:
      "How long ago the first of the environments expired whose deletion is not requested yet; 0 without any.",
    unit: units.Seconds,
    queries: { overdue: gauge("ephemeral_environment_expiry_overdue_seconds").max() },
    bad: { above: 300 },
    alerts: ["EphemeralExpiryWithoutProgress"],
  }),
];

const [creations, deletions, expirations, wakes] = [
  histogram("ephemeral_environment_creation_seconds", {}, AN_HOUR),
  histogram("ephemeral_environment_deletion_seconds", {}, AN_HOUR),
  histogram("ephemeral_environment_expiry_lateness_seconds", {}, AN_HOUR),
  histogram("ephemeral_environments_wake_duration_seconds", {}, AN_HOUR),
];

const lifecycle = [
  graph(
    {
      title: "Environments by phase",
      description: "The phase is what users see.",
      unit: units.NoUnit,
      queries: { "{{phase}}": gauge("ephemeral_environments").sum("phase") },
    },
    { isStacked: true },
  ),
  graph({
    title: "Made, deleted and failed in an hour",
    description: `How many environments became ready for the first time, were gone, and failed. ${OF_AN_HOUR}`,
    unit: units.NoUnit,
    queries: {
      ready: creations.count().sum(),
      gone: deletions.count().sum(),
      failed: increase("ephemeral_environment_failures_total", AN_HOUR).sum(),
    },
  }),
  graph({
    title: "Seconds until ready",
    description: `From the creation of an environment until it was ready for the first time. ${OF_AN_HOUR}`,
    unit: units.Seconds,
    queries: quantiles(creations),
    bad: { above: 180 },
    alerts: ["EphemeralCreationBudgetBurns"],
    width: 8,
  }),
  graph({
    title: "Seconds until gone",
    description: `From the request to delete an environment until all of it was gone. ${OF_AN_HOUR}`,
    unit: units.Seconds,
    queries: quantiles(deletions),
    bad: { above: 600 },
    alerts: ["EphemeralDeletionBudgetBurns", "EphemeralDeletionStuck"],
    width: 8,
  }),
  graph({
    title: "Lateness of expiry",
    description: `From the expiry of an environment until its deletion was requested. ${OF_AN_HOUR}`,
    unit: units.Seconds,
    queries: quantiles(expirations),
    bad: { above: 60 },
    alerts: ["EphemeralExpiryBudgetBurns", "EphemeralExpiryWithoutProgress"],
    width: 8,
  }),
  graph(
    {
      title: "Asleep",
      description: "Environments that are asleep, by what has them asleep; a person suspends.",
      unit: units.NoUnit,
      queries: { "{{cause}}": gauge("ephemeral_environments_asleep").sum("cause") },
      width: 8,
    },
    { isStacked: true },
  ),
  graph({
    title: "Waking, and waiting to wake",
    description:
      "Environments that wake now, and those that a request, or the begin of their hours, wakes, and that wait for a place among those that wake at once.",
    unit: units.NoUnit,
    queries: {
      waking: gauge("ephemeral_environments_waking").max(),
      waiting: gauge("ephemeral_environments_waiting_to_wake").max(),
    },
    alerts: ["EphemeralWakesWait"],
    width: 8,
  }),
  graph({
    title: "Seconds until awake",
    description: `From the request that woke an environment, else from the begin of its waking, until it answered. ${OF_AN_HOUR}`,
    unit: units.Seconds,
    queries: quantiles(wakes),
    bad: { above: 60 },
    alerts: ["EphemeralWakingBudgetBurns", "EphemeralGateRefuses"],
    width: 8,
  }),
];

const objectives = [
  ...OBJECTIVES.map((objective) =>
    figure({
      title: objective.title,
      description: `${objective.description} ${OF_WHAT_IS_SHOWN}`,
      unit: units.PercentUnit,
      queries: { good: goodShare(objective) },
      bad: { below: objective.target },
      alerts: [objective.alert],
      // Six fill the 24 columns.
      width: 4,
    }),
  ),
  graph({
    title: "Error budgets: times as fast as allowed",
    description: `At 1, the error budget of a month lasts for a month. From ${FAST_BURN} on, alerts fire if there were ten events in the hour.`,
    unit: units.NoUnit,
    queries: Object.fromEntries(OBJECTIVES.map((objective) => [objective.title, burnRate(objective)])),
    bad: { above: FAST_BURN },
    alerts: OBJECTIVES.map(({ alert }) => alert),
    width: 24,
  }),
];

/** The state of the platform at a glance. */
export const overview: Board = {
  name: "overview",
  title: "Overview",
  description: "Whether environments are made, deleted and expire as they should, and how the REST interface answers.",
  rows: {
    Now: now,
    Environments: lifecycle,
    Objectives: objectives,
    "REST interface": restInterface,
    "Webhooks of hosts": webhooks,
    "Messages to people": messages,
  },
};
