import { feature, route } from "../route.ts";
import { PeriodQuery, SeriesQuery } from "../schemas/period.ts";
import { toCostDashboard } from "./dashboard.ts";
import { costReportOf } from "./report.ts";
import { CostDashboard, CostSummary } from "./schemas.ts";
import { toCostSummary } from "./views.ts";

const BASIS =
  "Costs are what OpenCost allocated to environments, where that is known, else what their pods and volumes requested, by the prices of the installation; `basis` says which. Sleeping, resized and deleted environments count as what they were. Money is rounded to cents in such a way that the parts add up to the whole.";

const getCostSummary = route({
  endpoint: "GET /api/observability/costs/summary",
  summary: "Get a summary of the costs",
  description: `Costs of all environments together in the period, and the expected costs of this month. ${BASIS}`,
  access: { permission: "observability:read" },
  query: PeriodQuery,
  reply: CostSummary,
})(({ query }, services) => toCostSummary(costReportOf(query, services), services.settings.costs));

const getCostDashboard = route({
  endpoint: "GET /api/observability/costs/dashboard",
  summary: "Get what the costs consist of",
  description: `Costs of the period by day (UTC), by repository, by creator and by config set, and the most expensive environments. Rows have names only for callers who may see them. ${BASIS}`,
  access: { permission: "observability:read" },
  query: SeriesQuery,
  reply: CostDashboard,
})(({ query: { interval, ...query }, caller }, services) =>
  toCostDashboard({ report: costReportOf(query, services), interval }, caller, services),
);

export const costRoutes = feature("observability", { getCostSummary, getCostDashboard }, { envelope: "always" });
