import { type Static, Type } from "typebox";
import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { DIMENSIONS } from "../../crds/usage/period-summary.ts";
import { Basis, Budget, CostCoverage, CostRow } from "../costs/schemas.ts";
import { Instant, orNull, titled } from "../schemas/fields.ts";
import { numberOfPeriod, PeriodQuery, PeriodReport, SeriesQuery } from "../schemas/period.ts";
import {
  ANALYTICS_EXAMPLE,
  COST_ANALYSIS_EXAMPLE,
  INSIGHTS_DASHBOARD_EXAMPLE,
  SLEEP_EXAMPLE,
  USERS_EXAMPLE,
} from "./examples.ts";

const Count = Type.Integer({ minimum: 0 });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const money = (description: string) => orNull(Type.Number(), `${description} null: nothing is known.`);
const date = Type.String({ format: "date", description: "The day, in UTC; of a week its Monday." });

export const dashboard = {
  period: PeriodReport,
  environments: closed({
    created: count("Created in the period."),
    deleted: count("Deleted in it by request."),
    expired: count("Deleted in it because they had expired."),
    failed: count("Created in it, and failed before they were ready."),
    active: count("There at its end."),
  }),
  success_rate: numberOfPeriod(
    "Between 0 and 1: of the created environments that became ready or failed, the share that became ready.",
  ),
  average_lifetime_hours: numberOfPeriod(
    "Of the environments deleted in the period, from creation to the request of the deletion.",
  ),
  average_provision_seconds: numberOfPeriod("Of the environments created in the period, from creation to ready."),
  peak_concurrent: count("The most that were there at the same time."),
  active_users: count("People who created one in the period."),
  total_cost: money("Costs of all environments together in the period."),
  total_cost_cents: orNull(Type.Integer(), "The same in hundredths of the currency."),
  currency: Type.String({ description: "ISO 4217." }),
  cost_basis: Basis,
  cost_coverage: CostCoverage,
  top_repositories: Type.Array(
    closed({ id: Type.String(), environments: count("Created in the period.") }, { title: "TopRepository" }),
    { description: "Repositories with the most creations, of those that the caller may see; ten at most." },
  ),
  trends: Type.Array(
    closed({ date, created: Count, deleted: count("By request or expiry."), failed: Count }, { title: "Trend" }),
  ),
};

export const InsightsDashboard = closed(dashboard, titled("InsightsDashboard", INSIGHTS_DASHBOARD_EXAMPLE));
export type InsightsDashboard = Static<typeof InsightsDashboard>;

const Group = closed(
  {
    id: orNull(Type.String(), "null: none, or all that are not named."),
    kind: literals(["named", "none", "other"], {
      description: "other: the sum of what the caller may not see, and of the least.",
    }),
    created: Count,
    deleted: Count,
    failed: Count,
    success_rate: numberOfPeriod("Between 0 and 1."),
    average_lifetime_hours: numberOfPeriod("Of the environments deleted in the period."),
  },
  { title: "EnvironmentGroup" },
);
export type Group = Static<typeof Group>;

const counts = <N extends string>(names: readonly N[], description: string) =>
  closed(Object.fromEntries(names.map((name) => [name, Count])) as Record<N, typeof Count>, { description });

export const TRIGGERS = ["api", "pull_request", "pipeline", "manifest", "canary", "kubectl"] as const;

export const EnvironmentAnalytics = closed(
  {
    period: PeriodReport,
    series: Type.Array(
      closed(
        { date, created: Count, succeeded: Count, failed: Count, deleted: Count, expired: Count },
        { title: "EnvironmentDay" },
      ),
      { description: "Days of the period from the first day with known data." },
    ),
    by_status: counts(PHASES, "Current environments."),
    by_repository: Type.Array(Group, {
      description: "By the repository of the backend; the rows add up to the whole.",
    }),
    by_trigger: counts(TRIGGERS, "Created in the period, by what made them; kubectl: nothing else is known."),
    by_config_set: Type.Array(Group, { description: "By config set; the rows add up to the whole." }),
    ttl: closed({
      average_hours: numberOfPeriod("Of the environments that were created in the period and are still known."),
      median_hours: numberOfPeriod("Half of them have no longer TTL."),
      longest_hours: numberOfPeriod("The longest TTL of them."),
    }),
    failure_reasons: Type.Array(
      closed(
        { reason: Type.String({ description: "Stable, for programs." }), environments: Count },
        { title: "FailureReason" },
      ),
      {
        description:
          "Reasons of failures among the environments that were created in the period and are still known, the most frequent first; twenty at most.",
      },
    ),
    stale: Type.Array(
      closed(
        {
          id: Type.String(),
          name: Type.String(),
          repository: orNull(Type.String(), "Id of the repository of its backend."),
          unchanged_hours: Type.Number({ description: "Since its last change, or its creation." }),
          expires_at: orNull(Instant, "null: it never expires."),
        },
        { title: "StaleEnvironment" },
      ),
      {
        description:
          "Ready environments that were not changed for two days, of those that the caller may see; twenty at most.",
      },
    ),
  },
  titled("EnvironmentAnalytics", ANALYTICS_EXAMPLE),
);
export type EnvironmentAnalytics = Static<typeof EnvironmentAnalytics>;

export const UserActivity = closed(
  {
    period: PeriodReport,
    total_users: count("Known creators of environments; below maintainers all figures here are the caller's alone."),
    active_users: count("Number of them that created one in the period."),
    users: Type.Array(
      closed(
        {
          id: Type.String({ description: "`<issuer>#<sub>`." }),
          email: Type.String({ description: "Empty when it is not known." }),
          name: Type.String({ description: "Empty when it is not known." }),
          created: count("Environments that they created in the period."),
          active_environments: count("Number of their current environments."),
          total_cost: money("Costs of their environments in the period."),
          basis: Basis,
          coverage: CostCoverage,
          last_created_at: orNull(Instant, "Time of their last creation, if it is known."),
        },
        { title: "User" },
      ),
      {
        description:
          "People with environments in the period, the most active first, 150 at most; below maintainers the caller alone.",
      },
    ),
    series: Type.Array(closed({ date, active_users: Count }, { title: "UserDay" })),
  },
  titled("UserActivity", USERS_EXAMPLE),
);
export type UserActivity = Static<typeof UserActivity>;

export const AnalysisQuery = closed({
  ...PeriodQuery.properties,
  group_by: Type.Optional(literals(DIMENSIONS, { description: "repository unless said." })),
});

export const SleepQuery = closed({
  ...SeriesQuery.properties,
  group_by: Type.Optional(literals(DIMENSIONS, { description: "repository unless said." })),
});

const hours = (description: string) => Type.Number({ minimum: 0, description });

/** Sleep of a group or a day. */
const slept = {
  asleep_hours: hours("Hours asleep, of all environments together."),
  saved: money("Saving of their sleep."),
  saved_cents: orNull(Type.Integer(), "The same in hundredths of the currency."),
};

const saving = {
  saving: Type.Number({
    description: "Expected saving in the next seven days, or until the expiry, if that is sooner.",
  }),
  saving_cents: Type.Integer(),
};

export const SleepInsights = closed(
  {
    period: PeriodReport,
    currency: Type.String({ description: "ISO 4217." }),
    asleep: closed({
      hours: hours("Hours in which environments were asleep or suspended, of all together."),
      percent: numberOfPeriod("Share of the time in which environments existed."),
      by_cause: closed({
        schedule: hours("By their schedule."),
        idle: hours("Because they were not used."),
        person: hours("Suspended by a person."),
      }),
    }),
    saved: closed(
      {
        total: orNull(Type.Number(), "Saving of all sleep. null: nothing slept whose requests are known."),
        total_cents: orNull(Type.Integer(), "The same in hundredths of the currency."),
        known_percent: numberOfPeriod("Share of the hours asleep for which the saving is known."),
      },
      {
        description:
          "The price of what pods and volumes requested when they were last awake, less that of what they requested asleep: both by the prices of the installation, also where OpenCost allocates costs.",
      },
    ),
    group_by: literals(DIMENSIONS),
    groups: Type.Array(
      closed({ id: Group.properties.id, kind: Group.properties.kind, ...slept }, { title: "SleepGroup" }),
      { description: "Groups that slept; the hours add up to the whole, but for rounding." },
    ),
    series: Type.Array(closed({ date, ...slept }, { title: "SleepDay" })),
    possible: closed(
      {
        assumed_awake: Type.String({ description: "Hours of the assumed schedule, in whatever time zone." }),
        environments: count("Number of such environments."),
        ...saving,
        greatest: Type.Array(
          closed({ id: Type.String(), name: Type.String(), ...saving }, { title: "SleepCandidate" }),
          { description: "Environments with the greatest saving; twenty at most." },
        ),
      },
      {
        description:
          "Saving by the assumed schedule, of the ready environments of the caller's view whose sleep is undecided: no schedule, no idle time, no wish to stay awake, no suspension. A share of CPU and memory by the hours of a week; their use is not known.",
      },
    ),
  },
  titled("SleepInsights", SLEEP_EXAMPLE),
);
export type SleepInsights = Static<typeof SleepInsights>;

export const WASTE_REASONS = ["failed", "unchanged", "protected"] as const;

export const CostAnalysis = closed(
  {
    period: PeriodReport,
    currency: Type.String({ description: "ISO 4217." }),
    basis: Basis,
    coverage: CostCoverage,
    group_by: literals(DIMENSIONS),
    groups: Type.Array(CostRow, { description: "The rows add up to the whole." }),
    waste: closed({
      environments: count("Number of recommendations below."),
      saving: Type.Number({ description: "The sum of what could be saved by them." }),
      saving_cents: Type.Integer(),
      by_reason: counts(WASTE_REASONS, "Number of environments, by the reason."),
    }),
    forecast: closed({
      projected_month: money("Expected costs of this month (UTC), as in the summary of the costs."),
      budget: Budget,
    }),
    recommendations: Type.Array(
      closed(
        {
          environment: closed({ id: Type.String(), name: Type.String() }),
          reason: literals(WASTE_REASONS, {
            description:
              "failed: it failed and runs on. unchanged: it is ready, and was not changed for two days. protected: it was not changed for a week, and it never expires.",
          }),
          action: literals(["delete", "suspend", "unprotect"]),
          message: Type.String({ description: "For people." }),
          saving: Type.Number({
            description:
              "Expected costs until its expiry; of a protected one, in 30 days. Volumes of a suspended one still cost.",
          }),
          saving_cents: Type.Integer(),
        },
        { title: "Recommendation" },
      ),
      { description: "The environments of the caller's view that could cost less, the greatest saving first." },
    ),
  },
  titled("CostAnalysis", COST_ANALYSIS_EXAMPLE),
);
export type CostAnalysis = Static<typeof CostAnalysis>;
