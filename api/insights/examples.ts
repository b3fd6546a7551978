const PERIOD = { from: "2026-05-02T12:00:00.000Z", to: "2026-06-01T12:00:00.000Z" };

const REQUESTS = { basis: "requests", coverage: { known_percent: 100, allocated_percent: 0 } };

export const INSIGHTS_DASHBOARD_EXAMPLE = {
  period: PERIOD,
  environments: { created: 100, deleted: 62, expired: 28, failed: 4, active: 10 },
  success_rate: 0.96,
  average_lifetime_hours: 19.5,
  average_provision_seconds: 74.2,
  peak_concurrent: 17,
  active_users: 12,
  total_cost: 184.2,
  total_cost_cents: 18_420,
  currency: "USD",
  cost_basis: "requests" as const,
  cost_coverage: { known_percent: 100, allocated_percent: 0 },
  top_repositories: [{ id: "shop-api", environments: 58 }],
  trends: [{ date: "2026-06-01", created: 18, deleted: 14, failed: 1 }],
};

const group = { created: 58, deleted: 51, failed: 2, success_rate: 0.9655, average_lifetime_hours: 20.1 };

export const ANALYTICS_EXAMPLE = {
  period: PERIOD,
  series: [{ date: "2026-06-01", created: 18, succeeded: 17, failed: 1, deleted: 14, expired: 4 }],
  by_status: { creating: 1, building: 0, updating: 1, ready: 7, failed: 1, terminating: 0 },
  by_repository: [{ id: "shop-api", kind: "named", ...group }],
  by_trigger: { api: 40, pull_request: 55, pipeline: 3, manifest: 2, canary: 0, kubectl: 0 },
  by_config_set: [{ id: null, kind: "none", ...group }],
  ttl: { average_hours: 30.4, median_hours: 24, longest_hours: 168 },
  failure_reasons: [{ reason: "ImagePullFailed", environments: 3 }],
  stale: [
    {
      id: "3f2b8a52-0c3c-4a5e-9a54-0d6c2b8f1e11",
      name: "shop-test",
      repository: "shop-api",
      unchanged_hours: 72.5,
      expires_at: "2026-06-05T12:00:00.000Z",
    },
  ],
};

export const USERS_EXAMPLE = {
  period: PERIOD,
  total_users: 14,
  active_users: 12,
  users: [
    {
      id: "https://id.example.com#dev",
      email: "dev@example.com",
      name: "Dev",
      created: 9,
      active_environments: 2,
      total_cost: 11.4,
      last_created_at: "2026-06-01T09:00:00.000Z",
      ...REQUESTS,
    },
  ],
  series: [{ date: "2026-06-01", active_users: 7 }],
};

const SLEPT = { asleep_hours: 420.5, saved: 25.2, saved_cents: 2_520 };

export const SLEEP_EXAMPLE = {
  period: PERIOD,
  currency: "USD",
  asleep: { hours: 420.5, percent: 41.2, by_cause: { schedule: 380, idle: 32.5, person: 8 } },
  saved: { total: 25.2, total_cents: 2_520, known_percent: 100 },
  group_by: "repository",
  groups: [{ id: "shop-api", kind: "named", ...SLEPT }],
  series: [{ date: "2026-06-01", asleep_hours: 14, saved: 0.84, saved_cents: 84 }],
  possible: {
    assumed_awake: "Mon-Fri 08:00-19:00",
    environments: 1,
    saving: 3.1,
    saving_cents: 310,
    greatest: [{ id: "3f2b8a52-0c3c-4a5e-9a54-0d6c2b8f1e11", name: "shop-test", saving: 3.1, saving_cents: 310 }],
  },
};

export const COST_ANALYSIS_EXAMPLE = {
  period: PERIOD,
  currency: "USD",
  group_by: "repository",
  ...REQUESTS,
  groups: [{ id: "shop-api", kind: "named", total_cost: 184.2, total_cents: 18_420, created: 100, ...REQUESTS }],
  waste: { environments: 1, saving: 2.4, saving_cents: 240, by_reason: { failed: 1, unchanged: 0, protected: 0 } },
  forecast: { projected_month: 190.4, budget: { limit: 250, used: 9.41, used_percent: 3.76, state: "ok" } },
  recommendations: [
    {
      environment: { id: "3f2b8a52-0c3c-4a5e-9a54-0d6c2b8f1e11", name: "shop-test" },
      reason: "failed",
      action: "delete",
      saving: 2.4,
      saving_cents: 240,
      message: "It failed (ImagePullFailed) and still requests resources: delete it, or mend it.",
    },
  ],
};
