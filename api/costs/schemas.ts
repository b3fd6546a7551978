import { type Static, Type } from "typebox";
import { closed, literals } from "../../crds/schema.ts";
import { Instant, orNull, titled } from "../schemas/fields.ts";
import { PeriodReport } from "../schemas/period.ts";
import { COST_DASHBOARD_EXAMPLE, ENVIRONMENT_COST_EXAMPLE, SUMMARY_EXAMPLE } from "./examples.ts";

const UNKNOWN = "null: nothing is known.";

const money = (description: string) => orNull(Type.Number(), `${description} ${UNKNOWN}`);
const cents = orNull(Type.Integer(), `The same in hundredths of the currency. ${UNKNOWN}`);

export const Basis = literals(["requests", "opencost", "mixed"], {
  description:
    "requests: what pods and volumes requested, as the environment's ResourceQuota counted it, by the prices of the installation. opencost: what OpenCost allocated. mixed: some of the time the one, some the other.",
});
export type Basis = Static<typeof Basis>;

const percent = (description: string) =>
  orNull(Type.Number(), `Share of the environments' time in the period ${description}. null: there were none.`);

export const CostCoverage = closed(
  {
    known_percent: percent("with known costs"),
    allocated_percent: percent("with costs that OpenCost allocated"),
  },
  { title: "CostCoverage" },
);
export type CostCoverage = Static<typeof CostCoverage>;

const BUDGET_STATES = ["none", "ok", "at_risk", "exceeded", "unknown"] as const;

export const Budget = closed(
  {
    limit: orNull(Type.Number(), "Budget of a month (UTC). null: the installation sets no limit."),
    used: money("Costs of this month so far."),
    used_percent: orNull(Type.Number(), "The share of the limit that is used. null: no limit, or nothing is known."),
    state: literals(BUDGET_STATES, {
      description: "at_risk: the projection for this month is above the limit. none: there is no limit.",
    }),
  },
  { title: "Budget" },
);
export type Budget = Static<typeof Budget>;

const summary = {
  currency: Type.String({ description: "ISO 4217." }),
  basis: Basis,
  window: PeriodReport,
  total_cost: money("Costs of all environments together in the window."),
  total_cents: cents,
  by_resource: closed({
    cpu: money("CPU."),
    memory: money("Memory."),
    storage: money("Volumes."),
    other: money("Costs that only OpenCost knows: GPUs, network, load balancers."),
  }),
  active_environments: Type.Integer({ description: "Environments at the end of the window." }),
  average_cost_per_environment: orNull(
    Type.Number(),
    "Average of the environments in the window. null: there were none, or nothing is known.",
  ),
  projected_month: money(
    "Expected costs of this month (UTC): those so far, and the rest like the average of the last seven days, or of their known part.",
  ),
  previous_window: closed({
    total_cost: money("Costs of the preceding time of the same length."),
    change_percent: orNull(Type.Number(), "Rise of the costs. null: nothing to compare with."),
  }),
  coverage: CostCoverage,
};

export const CostSummary = closed(summary, titled("CostSummary", SUMMARY_EXAMPLE));
export type CostSummary = Static<typeof CostSummary>;

export const CostRow = closed(
  {
    id: orNull(Type.String(), "null: none, or all that are not named."),
    kind: literals(["named", "none", "other"], {
      description:
        "none: environments without any, such as those without a config set. other: the sum of those that the caller may not see, and of the least.",
    }),
    total_cost: money("Costs of its environments."),
    total_cents: cents,
    created: Type.Integer({ description: "Environments that were created in the window." }),
    basis: Basis,
    coverage: CostCoverage,
  },
  { title: "CostRow" },
);
export type CostRow = Static<typeof CostRow>;
const rows = (description: string) =>
  Type.Array(CostRow, { description: `${description}; the rows add up to the whole.` });

const EnvironmentCost = closed(
  {
    id: Type.String(),
    name: Type.String(),
    status: orNull(Type.String(), "null: it is gone."),
    repository: orNull(Type.String(), "Id of the repository of its backend."),
    total_cost: Type.Number({ description: "Costs in the window." }),
    total_cents: Type.Integer(),
    basis: Basis,
    coverage: CostCoverage,
  },
  { title: "CostOfEnvironment" },
);

export const CostDashboard = closed(
  {
    summary: CostSummary,
    timeseries: Type.Array(
      closed(
        {
          date: Type.String({ format: "date", description: "The day, in UTC; of a week its Monday." }),
          total_cost: money("Costs of that day."),
          total_cents: cents,
        },
        { title: "CostOfDay" },
      ),
      { description: "Days of the window from the first day with known data; they add up to the whole." },
    ),
    top_environments: Type.Array(EnvironmentCost, {
      description: "The most expensive of the environments and records that the caller may see; ten at most.",
    }),
    by_repository: rows("By the repository of the backend"),
    by_creator: rows("By creator; below maintainers only the caller is named"),
    by_config_set: rows("By config set"),
    budget: Budget,
  },
  titled("CostDashboard", COST_DASHBOARD_EXAMPLE),
);
export type CostDashboard = Static<typeof CostDashboard>;

/** Cost of one environment, in its detail. */
export const EnvironmentCostReport = closed(
  {
    currency: Type.String({ description: "ISO 4217." }),
    basis: Basis,
    estimate: money(
      "Expected costs of its TTL: by the average cost of an hour of environments of the same repository in the last 30 days.",
    ),
    actual: money("Costs so far."),
    per_hour: money("Cost of an hour of its current requests."),
    forecast: orNull(
      Type.Number(),
      "Expected costs until its expiry, if nothing changes. null: it never expires, or nothing is known.",
    ),
    since: orNull(Instant, `From when on its requests are known. ${UNKNOWN}`),
    coverage: CostCoverage,
  },
  titled("EnvironmentCost", ENVIRONMENT_COST_EXAMPLE),
);
export type EnvironmentCostReport = Static<typeof EnvironmentCostReport>;
