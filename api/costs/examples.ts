/** Costs as they may look, for the document. */
export const SUMMARY_EXAMPLE = {
  currency: "USD",
  basis: "requests",
  window: { from: "2026-05-02T12:00:00.000Z", to: "2026-06-01T12:00:00.000Z" },
  total_cost: 184.2,
  total_cents: 18_420,
  by_resource: { cpu: 121.05, memory: 60.93, storage: 2.22, other: 0 },
  active_environments: 12,
  average_cost_per_environment: 1.21,
  projected_month: 190.4,
  previous_window: { total_cost: 150, change_percent: 22.8 },
  coverage: { known_percent: 100, allocated_percent: 0 },
};

const row = (id: string | null, kind: "named" | "none" | "other", total_cents: number, created: number) => ({
  id,
  kind,
  total_cost: total_cents / 100,
  total_cents,
  created,
  basis: "requests",
  coverage: { known_percent: 100, allocated_percent: 0 },
});

export const DASHBOARD_EXAMPLE = {
  summary: SUMMARY_EXAMPLE,
  timeseries: [
    { date: "2026-05-31", total_cost: 90.1, total_cents: 9_010 },
    { date: "2026-06-01", total_cost: 94.1, total_cents: 9_410 },
  ],
  top_environments: [
    {
      id: "3f2b8a52-0c3c-4a5e-9a54-0d6c2b8f1e11",
      name: "shop-test",
      status: "ready",
      repository: "shop-api",
      total_cost: 3.12,
      total_cents: 312,
      basis: "requests",
      coverage: { known_percent: 100, allocated_percent: 0 },
    },
  ],
  by_repository: [row("shop-api", "named", 15_000, 100), row(null, "other", 3_420, 40)],
  by_creator: [row("https://id.example.com#dev", "named", 420, 4), row(null, "other", 18_000, 136)],
  by_config_set: [row(null, "none", 18_420, 140)],
  budget: { limit: 250, used: 9.41, used_percent: 3.76, state: "ok" },
};

export const ENVIRONMENT_COST_EXAMPLE = {
  currency: "USD",
  basis: "requests",
  estimate: 1.05,
  actual: 0.31,
  per_hour: 0.04,
  forecast: 1.02,
  since: "2026-06-01T12:00:01.000Z",
  coverage: { known_percent: 100, allocated_percent: 0 },
};

/** Reply for an environment without running pods. */
export const CREATED_COST_EXAMPLE = {
  ...ENVIRONMENT_COST_EXAMPLE,
  actual: null,
  per_hour: null,
  forecast: null,
  since: null,
  coverage: { known_percent: null, allocated_percent: null },
};
