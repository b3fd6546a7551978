import { type Static, Type } from "typebox";
import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { Instant, orNull, titled } from "../schemas/fields.ts";
import { numberOfPeriod, PeriodReport } from "../schemas/period.ts";

const PERIOD = { from: "2026-05-02T12:00:00.000Z", to: "2026-06-01T12:00:00.000Z" };
const COVERAGE = { requests_since: "2026-05-01T09:35:00.000Z", lost_by_a_kill_seconds: 10 };

const METRICS_EXAMPLE = {
  period: PERIOD,
  environments: {
    total: 12,
    by_status: { creating: 1, building: 0, updating: 1, ready: 9, failed: 1, terminating: 0 },
  },
  provisioning: { count: 140, p50_seconds: 41, p95_seconds: 118, failures: 2 },
  teardown: { p95_seconds: 22, stuck: 0 },
  expiry: { pending_24h: 5, max_lateness_seconds: 1.2 },
  webhooks: {
    received: 2210,
    processed: 940,
    ignored: 1180,
    duplicates: 71,
    failed: 0,
    refused: 19,
    queue_depth: 0,
    p95_ms: 23.5,
  },
  reconcile: { queue_depth: 0, p95_ms: 48, errors: 17 },
  coverage: COVERAGE,
};

const SLO_EXAMPLE = {
  window: PERIOD,
  objectives: [
    {
      id: "creation",
      description: "An environment is ready within 180 seconds.",
      target: 0.99,
      good: 139,
      total: 140,
      availability: 0.992857,
      error_budget: { remaining_percent: 28.57 },
      burn_rate: { h1: 0, h6: null },
      state: "met",
    },
  ],
  overall: "met",
  coverage: COVERAGE,
};

export const STATUSES = PHASES;

const count = (description: string) => Type.Integer({ description });

const Coverage = closed(
  {
    requests_since: orNull(Instant, "Begin of the counts of requests, webhooks and reconciles; null: none yet."),
    lost_by_a_kill_seconds: Type.Integer({
      description:
        "Longest time whose counts a killed process loses, unless the Kubernetes API was unavailable before. A stopped process loses nothing, nor do figures from resources.",
    }),
  },
  { title: "Coverage" },
);

export const MetricsReport = closed(
  {
    period: PeriodReport,
    environments: closed({
      total: count("Current environments."),
      by_status: closed(
        Object.fromEntries(STATUSES.map((status) => [status, Type.Integer()])) as Record<
          (typeof STATUSES)[number],
          ReturnType<typeof Type.Integer>
        >,
      ),
    }),
    provisioning: closed({
      count: count("Environments that were created in the period and became ready."),
      p50_seconds: numberOfPeriod("Half of them were ready within this time."),
      p95_seconds: numberOfPeriod("95 of 100 were."),
      failures: count("Environments that were created in the period, failed, and were never ready."),
    }),
    teardown: closed({
      p95_seconds: numberOfPeriod("95 of 100 environments that went in the period were gone within this time."),
      stuck: count("Environments that have been deleting for more than ten minutes."),
    }),
    expiry: closed({
      pending_24h: count("Environments that expire within 24 hours, or have expired."),
      max_lateness_seconds: Type.Number({
        description: "The longest time from an expiry in the period to the request to delete the environment.",
      }),
    }),
    webhooks: closed({
      received: count("Webhooks of hosts."),
      processed: count("Deliveries that were acted on or are pending."),
      ignored: count("Deliveries that need no action."),
      duplicates: count("Repeated deliveries."),
      failed: count("Deliveries that were answered with a status of 500 or more."),
      refused: count("Deliveries without a known sender, or malformed."),
      queue_depth: count("Stored deliveries that wait for their outcome now."),
      p95_ms: numberOfPeriod("95 of 100 were answered within this time."),
    }),
    reconcile: closed({
      queue_depth: count("Environments whose latest change no reconcile has answered yet."),
      p95_ms: numberOfPeriod("95 of 100 reconciles took no longer."),
      errors: count("Reconciles that ended with an error."),
    }),
    coverage: Coverage,
  },
  titled("PlatformMetrics", METRICS_EXAMPLE),
);

const STATES = ["met", "at_risk", "breached", "no_data"] as const;
export type SloState = (typeof STATES)[number];

const rate = (hours: number) =>
  orNull(
    Type.Number(),
    `Use of the error budget in the last ${hours} h as a multiple of the allowed rate; null: too few events.`,
  );

const ObjectiveReport = closed(
  {
    id: Type.String(),
    description: Type.String(),
    target: Type.Number({ description: "The share that has to be good." }),
    good: Type.Integer(),
    total: Type.Integer(),
    availability: orNull(Type.Number(), "The share that was good; null: no events."),
    error_budget: closed({
      remaining_percent: orNull(Type.Number(), "Rest of the error budget; below 0 when more was bad. null: no events."),
    }),
    burn_rate: closed({ h1: rate(1), h6: rate(6) }),
    state: literals(STATES, {
      description: "at_risk: less than a quarter of the error budget is left, or it is used up faster than allowed.",
    }),
  },
  { title: "ServiceLevelObjective" },
);
export type ObjectiveReport = Static<typeof ObjectiveReport>;

export const SloReport = closed(
  {
    window: PeriodReport,
    objectives: Type.Array(ObjectiveReport),
    overall: literals(STATES, { description: "The worst of them." }),
    coverage: Coverage,
  },
  titled("ServiceLevels", SLO_EXAMPLE),
);
