const PERIOD = { from: "2026-05-02T12:00:00.000Z", to: "2026-06-01T12:00:00.000Z" };
const COVERAGE = { requests_since: "2026-05-01T09:35:00.000Z", lost_by_a_kill_seconds: 10 };

export const METRICS_EXAMPLE = {
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

export const SLO_EXAMPLE = {
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
