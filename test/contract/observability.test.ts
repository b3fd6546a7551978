import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import type { PastSleeps } from "../../crds/usage/sleeps.ts";
import { environmentFixture } from "../support/fixtures/environment/environment-fixture.ts";
import { type ApiService, startApiService } from "../support/http/api-service.ts";

const NOW_MS = Date.parse("2026-06-01T12:00:00.500Z");
const DAY_S = 86_400;
const ago = (seconds: number) => new Date(NOW_MS - seconds * 1000).toISOString();

let service: ApiService;
let bearer: string;
beforeAll(async () => {
  service = await startApiService();
  bearer = await service.bearer("viewer");
  for (const environment of living) service.environments.put(environment);
  for (const record of recorded) await service.records.keep(record);
  service.rollups.add("2026-06-01", "11:55", {
    requests: 900,
    request_errors: 9,
    webhooks: 100,
    webhook_errors: 1,
    "webhook_ms.50": 90,
    "webhook_ms.250": 9,
    webhook_acted: 40,
    webhook_pending: 2,
    webhook_ignored: 30,
    webhook_duplicate: 20,
    webhook_refused: 7,
    "reconcile_ms.100": 10,
    reconcile_errors: 3,
  });
  service.rollups.add("2026-05-20", "07:00", { requests: 9_100, webhooks: 50, "webhook_ms.10": 50 });
  service.rollups.add("2026-04-01", "07:00", { requests: 1_000_000, request_errors: 1_000_000 });
});
afterAll(() => service.stop());

const environment = (
  name: string,
  createdS: number,
  {
    phase,
    readyAfterS,
    ttlHours = 24,
    deletedS,
    sleeps,
  }: Partial<Record<"readyAfterS" | "ttlHours" | "deletedS", number>> & {
    phase: "creating" | "ready" | "failed";
    sleeps?: PastSleeps;
  },
) =>
  environmentFixture({
    spec: { ttlHours },
    status: {
      phase,
      observedGeneration: 1,
      ...(readyAfterS !== undefined && { readyAt: ago(createdS - readyAfterS) }),
      ...(sleeps !== undefined && { sleeps }),
    },
    metadata: {
      name,
      uid: `uid-${name}`,
      creationTimestamp: ago(createdS),
      generation: 1,
      ...(deletedS !== undefined && { deletionTimestamp: ago(deletedS) }),
    },
  });

const woken = { since: ago(7_200), cause: "schedule", until: ago(3_600), wokenBy: "person" } as const;
/** Awake after 20 s, after 70 s by its request, never; and one deleted within a minute. */
const wakes = [
  { ...woken, awakeAt: ago(3_580) },
  { ...woken, wokenBy: "request", requestedAt: ago(3_670), awakeAt: ago(3_600) },
  { ...woken, until: ago(1_800) },
] as const;

const living = [
  environment("new", 60, { phase: "creating" }),
  environment("slow", 600, { phase: "creating" }),
  environment("quick", 3_600, { phase: "ready", readyAfterS: 40, sleeps: [...wakes] }),
  environment("broken", 7_200, { phase: "failed" }),
  // Expired 90 seconds ago, without a requested deletion.
  environment("overdue", 3_690, { phase: "ready", readyAfterS: 100, ttlHours: 1 }),
  // Deletion requested 20 minutes ago.
  environment("stuck", 2 * DAY_S, { phase: "ready", readyAfterS: 60, ttlHours: 100, deletedS: 1_200 }),
];

const record = (uid: string, createdS: number, more: Partial<RecordSpec>): RecordSpec => ({
  name: uid,
  uid,
  createdAt: ago(createdS),
  reason: "deleted",
  teardownSeconds: 0,
  deletedAt: ago(0),
  goneAt: ago(0),
  ...more,
});
const recorded = [
  // Expired, deleted 3 s late, gone after 17 s.
  record("expired", 5 * DAY_S, {
    reason: "expired",
    readyAt: ago(5 * DAY_S - 200),
    dueAt: ago(4 * DAY_S),
    deletedAt: ago(4 * DAY_S - 3),
    goneAt: ago(4 * DAY_S - 20),
  }),
  // Deleted by its user within a minute, never ready: its timeliness is unknown.
  record("dropped", 3 * DAY_S, { deletedAt: ago(3 * DAY_S - 50), goneAt: ago(3 * DAY_S - 55), dueAt: ago(2 * DAY_S) }),
  record("forced", 3 * DAY_S, {
    readyAt: ago(3 * DAY_S - 30),
    forced: [{ step: "application", left: "it hangs" }],
    deletedAt: ago(2 * DAY_S),
    goneAt: ago(2 * DAY_S - 100),
    sleeps: [{ ...woken, until: ago(2 * DAY_S + 30) }],
  }),
  record("long ago", 60 * DAY_S, {
    readyAt: ago(60 * DAY_S - 5_000),
    goneAt: ago(59 * DAY_S),
    deletedAt: ago(59 * DAY_S),
  }),
];

const get = (path: string, accept = "application/json") =>
  service.http.get(`/api/observability/${path}`).set("authorization", bearer).set("accept", accept);

describe("GET /api/observability/metrics", () => {
  test("has the figures of a known history, to the second", async () => {
    const { body } = await get("metrics").expect(200);
    expect(body).toMatchObject({ status: "success", timestamp: "2026-06-01T12:00:00.500Z" });
    expect(body.data).toEqual({
      period: { from: "2026-05-02T12:00:00.500Z", to: "2026-06-01T12:00:00.500Z" },
      environments: {
        total: 6,
        by_status: { creating: 2, building: 0, updating: 0, ready: 2, failed: 1, terminating: 1 },
      },
      // 30, 40, 60, 100, 200
      provisioning: { count: 5, p50_seconds: 60, p95_seconds: 200, failures: 1 },
      // 5, 17, 100
      teardown: { p95_seconds: 100, stuck: 1 },
      // An expiry is to the second.
      expiry: { pending_24h: 5, max_lateness_seconds: 90.5 },
      webhooks: {
        received: 150,
        processed: 42,
        ignored: 30,
        duplicates: 20,
        failed: 1,
        refused: 7,
        queue_depth: 0,
        p95_ms: expect.closeTo(125.83, 2),
      },
      reconcile: { queue_depth: 0, p95_ms: 97.5, errors: 3 },
      coverage: { requests_since: "2026-04-01T07:00:00.000Z", lost_by_a_kill_seconds: 10 },
    });
  });

  test("is about the window that is asked for", async () => {
    const { data } = (await get("metrics?window=24h").expect(200)).body;
    expect(data).toMatchObject({
      provisioning: { count: 2, p50_seconds: 40, p95_seconds: 100, failures: 1 },
      teardown: { p95_seconds: null, stuck: 1 },
      webhooks: { received: 100 },
    });
    const april = await get("metrics?from=2026-04-01&to=2026-05-01T00:00:00Z").expect(200);
    expect(april.body.data.provisioning).toEqual({ count: 1, p50_seconds: 5_000, p95_seconds: 5_000, failures: 0 });
  });

  test.each([
    ["from=2026-05-01", "to: is required: from and to come together"],
    ["to=2026-05-01", "from: is required: from and to come together"],
    ["from=2026-05-02&to=2026-05-01", "from: must be before to"],
    ["window=24h&from=2026-05-01&to=2026-05-02", "window: must be absent beside from and to"],
    ["window=1h", "window: must be"],
    ["from=yesterday&to=2026-05-02", "from: must be an ISO 8601 timestamp"],
  ])("refuses %s", async (query, detail) => {
    const { body } = await get(`metrics?${query}`).expect(400);
    expect(body).toMatchObject({ status_code: 400, detail: expect.stringContaining(detail) });
  });

  test("is text for Prometheus where that is asked for", async () => {
    await get("metrics").expect(200);
    const { text } = await get("metrics", "text/plain;version=0.0.4")
      .expect(200)
      .expect("content-type", /^text\/plain/);
    expect(text).toContain('http_requests_total{method="GET",route="/api/observability/metrics",code="200"}');
  });
});

describe("GET /api/observability/slo/status", () => {
  test("judges each objective by a known history", async () => {
    const { data } = (await get("slo/status").expect(200)).body;
    const scores = Object.fromEntries(
      data.objectives.map((one: { id: string; good: number; total: number; state: string }) => [
        one.id,
        [one.good, one.total, one.state],
      ]),
    );
    expect(scores).toEqual({
      // Late: slow, broken and expired.
      creation: [4, 7, "breached"],
      // Bad: stuck and forced.
      deletion: [2, 4, "breached"],
      // Overdue is late; an environment deleted before its expiry never expired.
      expiry: [1, 2, "breached"],
      // Late: the one by a request, and the one that never answered; one was deleted within a minute.
      waking: [1, 3, "breached"],
      webhooks: [140, 150, "breached"],
      api: [9_991, 10_000, "at_risk"],
    });
    expect(data.overall).toBe("breached");
    const api = data.objectives.at(-1);
    expect(api).toMatchObject({
      target: 0.999,
      availability: 0.9991,
      error_budget: { remaining_percent: 10 },
      burn_rate: { h1: 10, h6: 10 },
    });
    // Fewer than ten events are no rate.
    expect(data.objectives[0].burn_rate).toEqual({ h1: null, h6: null });
  });

  test("says no data where there is none, and never a number that is none", async () => {
    const { body } = await get("slo/status?from=2020-01-01&to=2020-01-02").expect(200);
    expect(body.data).toMatchObject({ overall: "no_data" });
    for (const objective of body.data.objectives) {
      expect(objective).toMatchObject({ total: 0, availability: null, error_budget: { remaining_percent: null } });
    }
  });
});
