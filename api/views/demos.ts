import type { DemoDashboard } from "../schemas/demos.ts";

const DAYS = [
  ["2026-01-05", 18, 14, 1],
  ["2026-01-12", 24, 20, 0],
  ["2026-01-19", 31, 27, 2],
  ["2026-01-26", 27, 29, 1],
] as const;

/** What an insights dashboard looks like in a month of a company that does not exist. */
export const demoDashboard: DemoDashboard = {
  demo: true,
  period: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-31T00:00:00.000Z" },
  environments: { created: 100, deleted: 62, expired: 28, failed: 4, active: 10 },
  success_rate: 0.96,
  average_lifetime_hours: 19.5,
  average_provision_seconds: 74.2,
  peak_concurrent: 17,
  active_users: 12,
  total_cost: 184.2,
  total_cost_cents: 18420,
  currency: "USD",
  top_repositories: [
    { id: "shop-api", environments: 58 },
    { id: "billing-api", environments: 42 },
  ],
  trends: DAYS.map(([date, created, deleted, failed]) => ({ date, created, deleted, failed })),
};
