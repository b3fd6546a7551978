import type { Static } from "typebox";
import type { Life } from "../../crds/environment/life.ts";
import { isWithin, type Period } from "../../operator/ports/observability/period.ts";
import { COUNTERS, quantileMs } from "../../operator/ports/observability/rollup-counters.ts";
import { toPeriod } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { countedIn, countedSince } from "./counted.ts";
import { DELETION_MS } from "./objectives.ts";
import { type MetricsReport, STATUSES } from "./schemas.ts";

const DAY_MS = 86_400_000;

type Used = Pick<Services, "lives" | "rollups" | "webhookDeliveries">;

/** What the platform does now, and did in the period. */
export function platformMetrics(period: Period, now: Date, services: Used): Static<typeof MetricsReport> {
  const nowMs = now.getTime();
  const all = services.lives();
  const living = all.filter(({ phase }) => phase !== undefined);
  const counts = countedIn(services.rollups, period);
  const of = (counter: string) => counts[counter] ?? 0;
  const outcome = (name: string) => of(COUNTERS.webhookOutcome(name));
  return {
    period: toPeriod(period),
    environments: {
      total: living.length,
      by_status: Object.fromEntries(
        STATUSES.map((status) => [status, living.filter(({ phase }) => phase === status).length]),
      ) as Static<typeof MetricsReport>["environments"]["by_status"],
    },
    provisioning: provisioning(all, period),
    teardown: teardown(all, period, nowMs),
    expiry: expiry(all, period, nowMs),
    webhooks: {
      received: of(COUNTERS.webhooks),
      processed: outcome("acted") + outcome("pending"),
      ignored: outcome("ignored"),
      duplicates: outcome("duplicate"),
      failed: of(COUNTERS.webhookErrors),
      refused: ["refused", "malformed", "no_key"].reduce((sum, name) => sum + outcome(name), 0),
      queue_depth: services.webhookDeliveries.pending().length,
      p95_ms: quantileMs(counts, COUNTERS.webhookMs, 0.95) ?? null,
    },
    reconcile: {
      queue_depth: living.filter(({ isUnanswered }) => isUnanswered).length,
      p95_ms: quantileMs(counts, COUNTERS.reconcileMs, 0.95) ?? null,
      errors: of(COUNTERS.reconcileErrors),
    },
    coverage: { requests_since: countedSince(services.rollups) ?? null },
  };
}

function provisioning(all: readonly Life[], period: Period) {
  const created = all.filter(({ createdMs }) => isWithin(period, createdMs));
  const seconds = created.flatMap(({ createdMs, readyMs }) =>
    readyMs === undefined ? [] : [(readyMs - createdMs) / 1000],
  );
  const sorted = Float64Array.from(seconds).sort();
  return {
    count: sorted.length,
    p50_seconds: quantile(sorted, 0.5),
    p95_seconds: quantile(sorted, 0.95),
    failures: created.filter(({ readyMs, isFailed }) => readyMs === undefined && isFailed).length,
  };
}

function teardown(all: readonly Life[], period: Period, nowMs: number) {
  const seconds = all.flatMap(({ deletedMs, goneMs }) =>
    deletedMs !== undefined && goneMs !== undefined && isWithin(period, goneMs) ? [(goneMs - deletedMs) / 1000] : [],
  );
  const isStuck = ({ deletedMs, goneMs }: Life) =>
    deletedMs !== undefined && goneMs === undefined && nowMs - deletedMs > DELETION_MS;
  return { p95_seconds: quantile(Float64Array.from(seconds).sort(), 0.95), stuck: all.filter(isStuck).length };
}

function expiry(all: readonly Life[], period: Period, nowMs: number) {
  const pending = all.filter(
    ({ dueMs, deletedMs }) => dueMs !== undefined && deletedMs === undefined && dueMs <= nowMs + DAY_MS,
  );
  const lateness = all.flatMap(({ dueMs, deletedMs = nowMs }) =>
    dueMs !== undefined && isWithin(period, dueMs) && deletedMs >= dueMs ? [(deletedMs - dueMs) / 1000] : [],
  );
  return {
    pending_24h: pending.length,
    max_lateness_seconds: lateness.reduce((one, other) => Math.max(one, other), 0),
  };
}

/** The value that the share of all values does not exceed; `null` without any. */
function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
