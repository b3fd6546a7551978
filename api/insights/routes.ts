import { costReportOf } from "../costs/report.ts";
import { feature, route } from "../route.ts";
import { SeriesQuery } from "../schemas/period.ts";
import { toAnalytics, usageStatistics } from "./analytics.ts";
import { recommendationsFor, toCostAnalysis } from "./cost-analysis.ts";
import { toInsightsDashboard } from "./dashboard.ts";
import {
  AnalysisQuery,
  CostAnalysis,
  EnvironmentAnalytics,
  InsightsDashboard,
  SleepInsights,
  SleepQuery,
  UserActivity,
} from "./schemas.ts";
import { sleepCandidates, toSleepInsights } from "./sleep.ts";
import { KNOWN_USERS, toUserActivity } from "./users.ts";

const access = { permission: "insights:read" } as const;
const DAYS = "Days are those of UTC. Rows have names only for callers who may see them; the rest is one row.";

const getInsightsDashboard = route({
  endpoint: "GET /api/insights/dashboard",
  summary: "Get what became of environments",
  description: `Number of environments that were created, deleted and failed in the period, their durations, and their costs. ${DAYS}`,
  access,
  query: SeriesQuery,
  reply: InsightsDashboard,
})(({ query: { interval, ...query }, caller }, services) =>
  toInsightsDashboard({ report: costReportOf(query, services), interval }, caller, services),
);

const getEnvironmentAnalytics = route({
  endpoint: "GET /api/insights/environments/analytics",
  summary: "Get what became of environments in detail",
  description: `Environments of the period by day, by repository, by trigger and by config set, with their TTL and the reasons of failures, and those without a change for long. ${DAYS}`,
  access,
  query: SeriesQuery,
  reply: EnvironmentAnalytics,
})(({ query: { interval, ...query }, caller }, services) => {
  const statistics = services.memo.of(`records ${JSON.stringify(query)}`, usageStatistics(query));
  return toAnalytics({ report: costReportOf(query, services), interval, statistics }, caller, services);
});

const getUserActivity = route({
  endpoint: "GET /api/insights/users/activity",
  summary: "Get the creators of environments",
  description: `People with environments in the period; below maintainers the caller alone. ${DAYS}`,
  access,
  query: SeriesQuery,
  reply: UserActivity,
})(({ query: { interval, ...query }, caller }, services) => {
  const users = services.memo.of("users", KNOWN_USERS);
  return toUserActivity({ report: costReportOf(query, services), interval, users }, caller, services.settings);
});

const getCostAnalysis = route({
  endpoint: "GET /api/insights/costs/analysis",
  summary: "Get where money could be saved",
  description: `The costs of the period by repository, creator, config set or trigger, and recommendations that name an environment and what it would save. ${DAYS}`,
  access,
  query: AnalysisQuery,
  reply: CostAnalysis,
})(({ query: { group_by: dimension = "repository", ...query }, caller }, services) => {
  const recommendations = services.memo.of("recommendations", recommendationsFor(services.settings));
  return toCostAnalysis({ report: costReportOf(query, services), recommendations, dimension }, caller, services);
});

const getSleepInsights = route({
  endpoint: "GET /api/insights/sleep",
  summary: "Get what sleep saved, and what it could",
  description: `Hours in which environments of the period were asleep, by cause, what that saved, and what hours of a working week would save of environments whose sleep is undecided. Requests to those are not observed: which of them are used is not known. ${DAYS}`,
  access,
  query: SleepQuery,
  reply: SleepInsights,
})(({ query: { group_by: dimension = "repository", interval, ...query }, caller }, services) => {
  const candidates = services.memo.of("sleep candidates", sleepCandidates(services.settings));
  const report = costReportOf(query, services);
  return toSleepInsights({ report, interval, candidates, dimension }, caller, services);
});

export const insightRoutes = feature(
  "insights",
  { getInsightsDashboard, getEnvironmentAnalytics, getUserActivity, getCostAnalysis, getSleepInsights },
  { envelope: "always" },
);
