import { beforeEach, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import type { Notification } from "../../../../../crds/notifications/notification.ts";
import type { WebhookDelivery } from "../../../../../crds/webhooks/webhook-delivery.ts";
import { hostCalls } from "../../../../../operator/adapters/host-api/host-calls.ts";
import { prometheusMetrics } from "../../../../../operator/adapters/prometheus/metrics.ts";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import type { Metrics } from "../../../../../operator/ports/metrics.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { CREATED, environmentFixture } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { scraped, scrapedOf } from "./scraped.ts";

let metrics: Metrics;
let clock: TestClock;
let isLeading: boolean;
let version: number;
const fresh = () => ({
  environments: createObjectCache<EphemeralEnvironment>({ clock }),
  webhookDeliveries: createObjectCache<WebhookDelivery>({ clock }),
  notifications: createObjectCache<Notification>({ clock }),
});
let caches: ReturnType<typeof fresh>;
let calls: ReturnType<typeof hostCalls>;

beforeEach(() => {
  clock = new TestClock(CREATED);
  [metrics, isLeading, version, caches] = [prometheusMetrics(), true, 0, fresh()];
  calls = hostCalls(silentLog);
  metrics.observe({
    caches,
    watches: { progressAgesMs: new Map([["environments", 1_500]]) },
    hostCalls: calls,
    isLeading: () => isLeading,
    clock,
  });
});

function reported(status: EphemeralEnvironment["status"], more: { deletedAfterS?: number; name?: string } = {}) {
  const { deletedAfterS, name = "shop" } = more;
  version += 1;
  const environment = environmentFixture({
    spec: { ttlHours: 1 },
    status,
    metadata: {
      name,
      uid: `uid-of-${name}`,
      resourceVersion: String(version),
      ...(deletedAfterS !== undefined && { deletionTimestamp: secondsIn(deletedAfterS) }),
    },
  });
  caches.environments.upsert(environment);
  return environment;
}

const secondsIn = (seconds: number) => new Date(Date.parse(CREATED) + seconds * 1000).toISOString();
const HOUR_S = 3600;

describe("the leader", () => {
  test("counts environments by the phase that users see, and knows what is overdue", async () => {
    reported({ phase: "ready" });
    reported({ phase: "failed" }, { name: "broken" });
    reported({ phase: "ready" }, { name: "going", deletedAfterS: 10 });
    clock.advance((HOUR_S + 5) * 1000);
    expect(await scrapedOf(metrics, "ephemeral_environments{")).toEqual({
      'ephemeral_environments{phase="creating"}': 0,
      'ephemeral_environments{phase="building"}': 0,
      'ephemeral_environments{phase="updating"}': 0,
      'ephemeral_environments{phase="ready"}': 1,
      'ephemeral_environments{phase="failed"}': 1,
      'ephemeral_environments{phase="terminating"}': 1,
    });
    const found = await scraped(metrics);
    expect(found.get("ephemeral_environment_deletion_longest_seconds")).toBe(HOUR_S - 5);
    expect(found.get("ephemeral_environment_expiry_overdue_seconds")).toBe(5);
    expect(found.get('leader_election_master_status{name="platform"}')).toBe(1);
  });

  test("counts environments that are asleep by cause, and those whose requests are not known", async () => {
    const since = secondsIn(0);
    const unknown = { type: "ActivityUnknown", status: "True", reason: "ActivityUnknown", message: "" } as const;
    reported({ phase: "ready", sleep: { state: "asleep", since, cause: "idle", afterIdleMinutes: 60 } });
    reported(
      {
        phase: "ready",
        sleep: { state: "awake", since, cause: "person", afterIdleMinutes: 60 },
        conditions: [{ ...unknown, lastTransitionTime: since }],
      },
      { name: "used" },
    );
    expect(await scrapedOf(metrics, "ephemeral_environments_a")).toEqual({
      'ephemeral_environments_asleep{cause="schedule"}': 0,
      'ephemeral_environments_asleep{cause="idle"}': 1,
      'ephemeral_environments_asleep{cause="person"}': 0,
      ephemeral_environments_activity_unknown: 1,
    });
  });

  test("counts environments that wake, and those that wait for their turn to, and knows how long the first has waited", async () => {
    const sleep = { state: "asleep", since: secondsIn(0), cause: "schedule" } as const;
    reported({ phase: "ready", sleep: { ...sleep, nextAt: secondsIn(30) } }, { name: "first" });
    reported({ phase: "ready", sleep: { ...sleep, nextAt: secondsIn(60) } }, { name: "second" });
    reported({ phase: "ready", sleep: { ...sleep, nextAt: secondsIn(600) } }, { name: "later" });
    reported({ phase: "updating", sleep: { ...sleep, state: "waking" } }, { name: "waking" });
    clock.advance(100_000);
    const found = await scraped(metrics);
    expect(found.get("ephemeral_environments_waking")).toBe(1);
    expect(found.get("ephemeral_environments_waiting_to_wake")).toBe(2);
    expect(found.get("ephemeral_environment_wake_wait_longest_seconds")).toBe(70);
  });

  test("measures wakes from the request, else from the begin of waking, and counts those that fail", async () => {
    const rest = { since: secondsIn(0), cause: "idle", until: secondsIn(100) } as const;
    const woken = { ...rest, wokenBy: "request", requestedAt: secondsIn(97) } as const;
    const later = { since: secondsIn(300), cause: "schedule", until: secondsIn(400), wokenBy: "schedule" } as const;
    reported({ phase: "ready", sleeps: [{ since: secondsIn(0), cause: "idle" }] });
    reported({ phase: "updating", sleeps: [woken] });
    const first = { ...woken, awakeAt: secondsIn(109) };
    reported({ phase: "ready", sleeps: [first] });
    reported({ phase: "ready", sleeps: [first] });
    reported({ phase: "updating", sleeps: [first, later] });
    reported({ phase: "failed", sleeps: [first, later] });
    reported({ phase: "failed", sleeps: [first, later] });
    reported({ phase: "ready", sleeps: [first, { ...later, awakeAt: secondsIn(405) }] });
    const found = await scraped(metrics);
    const of = (name: string, cause: string) => found.get(`ephemeral_environments_wake_${name}{cause="${cause}"}`);
    const byCause = ["schedule", "person", "request"].map((cause) => [
      of("duration_seconds_count", cause),
      of("duration_seconds_sum", cause),
      of("failures_total", cause),
    ]);
    expect(byCause).toEqual([
      [1, 5, 1],
      [0, 0, 0],
      [1, 12, 0],
    ]);
  });

  test("measures the life of an environment where it changes", async () => {
    reported({ phase: "creating" });
    reported({ phase: "failed" });
    reported({ phase: "ready", readyAt: secondsIn(42) });
    reported({ phase: "failed", readyAt: secondsIn(42) });
    reported({ phase: "ready", readyAt: secondsIn(42) });
    const last = reported({ phase: "ready", readyAt: secondsIn(42) }, { deletedAfterS: HOUR_S + 7 });
    clock.advance((HOUR_S + 20) * 1000);
    caches.environments.remove({ ...last, metadata: { ...last.metadata, resourceVersion: "9" } });
    const found = await scraped(metrics);
    const sums = ["creation", "expiry_lateness", "deletion"].map((name) => {
      const metric = `ephemeral_environment_${name}_seconds`;
      return [found.get(`${metric}_count`), found.get(`${metric}_sum`)];
    });
    expect(sums).toEqual([
      [1, 42],
      [1, 7],
      [1, 13],
    ]);
    expect(found.get("ephemeral_environment_failures_total")).toBe(2);
    expect(found.get("ephemeral_environment_creation_failures_total")).toBe(1);
  });

  test("takes no deletion before the expiry for a late one", async () => {
    reported({ phase: "ready" });
    reported({ phase: "ready" }, { deletedAfterS: 60 });
    expect((await scraped(metrics)).get("ephemeral_environment_expiry_lateness_seconds_count")).toBe(0);
  });
});

test("messages are counted by phase, and the one that waits the longest is known", async () => {
  const message = (name: string, at: string, phase?: "pending" | "sent" | "failed") => {
    version += 1;
    const metadata = { name, uid: name, resourceVersion: String(version), creationTimestamp: at };
    const status = phase && { phase, attempts: 1 };
    caches.notifications.upsert({ metadata, spec: { at }, ...(status && { status }) } as Notification);
  };
  message("new", secondsIn(10));
  message("tried", secondsIn(4), "pending");
  message("sent", secondsIn(1), "sent");
  message("dead", secondsIn(2), "failed");
  clock.advance(20_000);
  expect(await scrapedOf(metrics, "ephemeral_notification")).toEqual({
    'ephemeral_notifications{phase="pending"}': 2,
    'ephemeral_notifications{phase="sent"}': 1,
    'ephemeral_notifications{phase="failed"}': 1,
    ephemeral_notification_oldest_pending_seconds: 16,
  });
});

test("calls of hosts are counted by answer, and their budgets are shown", async () => {
  const headers = {
    "x-ratelimit-limit": "60",
    "x-ratelimit-remaining": "7",
    "x-ratelimit-reset": String(Date.parse(secondsIn(60)) / 1000),
  };
  const requested = calls.of("git").counted(async () => new Response("", { headers }) as never);
  await requested("https://git.test", {});
  calls.of("git").limited();
  expect(await scrapedOf(metrics, "ephemeral_host")).toEqual({
    'ephemeral_host_calls_total{host="git",answer="2xx"}': 1,
    'ephemeral_host_call_limits_total{host="git"}': 1,
    'ephemeral_host_call_budget{host="git"}': 60,
    'ephemeral_host_call_budget_remaining{host="git"}': 7,
  });
  clock.advance(60_000);
  expect(await scrapedOf(metrics, "ephemeral_host_call_budget_remaining")).toEqual({});
});

test("what a cache shows first is no change", async () => {
  reported({ phase: "ready", readyAt: secondsIn(42) });
  const found = await scraped(metrics);
  expect(found.get("ephemeral_environment_creation_seconds_count")).toBe(0);
});

test("another replica has no figures of the whole cluster, and counts no change", async () => {
  isLeading = false;
  reported({ phase: "creating" });
  reported({ phase: "ready", readyAt: secondsIn(42) });
  const found = await scraped(metrics);
  expect(found.get("ephemeral_environment_creation_seconds_count")).toBe(0);
  const ofCluster = [...found.keys()].filter((name) =>
    /^ephemeral_(environments(?!_wake)|notification|webhook_deliveries|environment_(deletion_longest|expiry_overdue))/.test(
      name,
    ),
  );
  expect(ofCluster).toEqual([]);
  expect(found.get('leader_election_master_status{name="platform"}')).toBe(0);
  expect(found.get('ephemeral_watch_progress_age_seconds{kind="environments"}')).toBe(1.5);
});
