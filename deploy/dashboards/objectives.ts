import { AN_HOUR, histogram, rate, type Series, SHOWN, shareOf } from "./queries.ts";

/** An objective of `GET /api/observability/slo/status`, measured as by the alerts on error budgets. */
export interface Objective {
  readonly title: string;
  readonly description: string;
  /** The required share of good events. */
  readonly target: number;
  readonly alert: string;
  /** The share of good events within a time. */
  good(over: string): Series;
}

/** Routes of repository and pipeline hosts, which the objective and the alerts are about. */
export const OF_HOSTS = /\/api\/webhooks\/(repohost|pipelinehost).*/;
/** The REST interface without its pages. */
const OF_API = /\/api\/.+/;
/** Burn rate that fires an alert: 2 % of a month's error budget in an hour. */
export const FAST_BURN = 14.4;

export const OBJECTIVES: readonly Objective[] = [
  {
    title: "Creation",
    description:
      "Environments that were ready within 180 seconds, of those that became ready or failed. 99 % have to be.",
    target: 0.99,
    alert: "EphemeralCreationBudgetBurns",
    good: (over) =>
      histogram("ephemeral_environment_creation_seconds", {}, over).within(
        180,
        rate("ephemeral_environment_creation_failures_total", {}, over).sum(),
      ),
  },
  {
    title: "Deletion",
    description: "Environments that were gone within 10 minutes of the request to delete them. 99.9 % have to be.",
    target: 0.999,
    alert: "EphemeralDeletionBudgetBurns",
    good: (over) => histogram("ephemeral_environment_deletion_seconds", {}, over).within(600),
  },
  {
    title: "Expiry",
    description: "Expired environments whose deletion was requested within a minute. 99.9 % have to be.",
    target: 0.999,
    alert: "EphemeralExpiryBudgetBurns",
    good: (over) => histogram("ephemeral_environment_expiry_lateness_seconds", {}, over).within(60),
  },
  {
    title: "Waking",
    description:
      "Environments that answered within 60 seconds of the request or the begin of the waking, of those that woke or failed to. 95 % have to.",
    target: 0.95,
    alert: "EphemeralWakingBudgetBurns",
    good: (over) =>
      histogram("ephemeral_environments_wake_duration_seconds", {}, over).within(
        60,
        rate("ephemeral_environments_wake_failures_total", {}, over).sum(),
      ),
  },
  {
    title: "Webhooks",
    description: "Webhooks of hosts that were answered within 100 milliseconds. 99 % have to be.",
    target: 0.99,
    alert: "EphemeralWebhookBudgetBurns",
    good: (over) => histogram("http_request_duration_seconds", { route: OF_HOSTS, method: "POST" }, over).within(0.1),
  },
  {
    title: "REST interface",
    description: "Requests that were not answered with a status of 500 or more. 99.9 % have to be.",
    target: 0.999,
    alert: "EphemeralApiBudgetBurns",
    good: (over) => shareOf("http_requests_total", { of: { route: OF_API }, which: { code: /[1-4]../ }, over }),
  },
];

/** The share of good events in the shown time. */
export const goodShare = ({ good }: Objective): Series => good(SHOWN);

/** Burn rate of the error budget, as a multiple of the allowed rate. */
export const burnRate = ({ good, target }: Objective): Series =>
  good(AN_HOUR)
    .inverse()
    .timesAllowed(1 - target);
