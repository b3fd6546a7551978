import { feature, route } from "../route.ts";
import { PeriodQuery } from "../schemas/period.ts";
import { platformMetrics, usageMetrics } from "./platform-metrics.ts";
import { MetricsReport, SloReport } from "./schemas.ts";
import { sloReport, usageScores } from "./slo.ts";

const getMetrics = route({
  endpoint: "GET /api/observability/metrics",
  summary: "Get the platform's metrics",
  description:
    "Current state of all environments together, and the work of the period. With `Accept: text/plain` the answer is that of `/metrics` on the probes' port: the metrics of this replica, for Prometheus.",
  access: { permission: "observability:read" },
  query: PeriodQuery,
  reply: MetricsReport,
  representation: {
    type: "text/plain; version=0.0.4",
    text: () => 'ephemeral_environments{phase="ready"} 9\n',
    serve: async ({ metrics }) => (await metrics.scrape()).text,
  },
})(({ query }, services) => {
  const ofUsage = services.memo.of(`metrics ${JSON.stringify(query)}`, usageMetrics(query));
  return platformMetrics(ofUsage, services);
});

const getSloStatus = route({
  endpoint: "GET /api/observability/slo/status",
  summary: "Get the service levels",
  description:
    "Each objective with its good events in the window, the rest of its error budget, and the rate of its use. Environments are measured by their resources and records, requests by the counts of every replica.",
  access: { permission: "observability:read" },
  query: PeriodQuery,
  reply: SloReport,
})(({ query }, services) => {
  const ofUsage = services.memo.of(`slo ${JSON.stringify(query)}`, usageScores(query));
  return sloReport(ofUsage, services);
});

export const observabilityRoutes = feature("observability", { getMetrics, getSloStatus }, { envelope: "always" });
