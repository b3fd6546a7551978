import type { Static } from "typebox";
import { DAY_MS } from "../../crds/durations.ts";
import type { Phase } from "../../crds/environment/ephemeral-environment.ts";
import { isWithin, type Period, sortedNumbers } from "../../crds/usage/period-summary.ts";
import { COUNTERS, quantileMs } from "../../crds/usage/rollup.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import { type PeriodQuery, periodOf, toPeriod } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import { countedIn, coverageOf } from "./counted.ts";
import type { UsageSum } from "./memo.ts";
import { DELETION_MS } from "./objectives.ts";
import { type MetricsReport, STATUSES } from "./schemas.ts";

type Report = Static<typeof MetricsReport>;

/** Metrics of environments, now and in the period. */
export interface UsageMetrics {
  readonly period: Period;
  readonly ofEnvironments: Pick<Report, "environments" | "provisioning" | "teardown" | "expiry">;
  readonly unanswered: number;
}

/** Sum of the metrics of some environments. */
interface PartMetrics {
  readonly present: ReturnType<typeof presentOf>;
  readonly provisioning: ReturnType<typeof provisioning>;
  readonly teardown: ReturnType<typeof teardown>;
  readonly expiry: ReturnType<typeof expiry>;
}

/** Metrics of environments in the requested period. */
export function usageMetrics(query: PeriodQuery): UsageSum<PartMetrics, UsageMetrics> {
  return {
    ofPart(records, now) {
      const [period, nowMs] = [periodOf(query, now), now.getTime()];
      return {
        present: presentOf(records),
        provisioning: provisioning(records, period),
        teardown: teardown(records, period, nowMs),
        expiry: expiry(records, period, nowMs),
      };
    },
    whole(parts, now) {
      const { present, ...sums } = wholeOf(parts);
      const environments = { total: present.total, by_status: present.byStatus };
      return {
        period: periodOf(query, now),
        ofEnvironments: { environments, ...sums },
        unanswered: present.unanswered,
      };
    },
  };
}

function wholeOf(parts: readonly PartMetrics[]) {
  const sumOf = (count: (part: PartMetrics) => number) => parts.reduce((sum, part) => sum + count(part), 0);
  const provisioned = sortedNumbers(parts.map((part) => part.provisioning.seconds));
  return {
    present: {
      total: sumOf(({ present }) => present.total),
      byStatus: byStatus((status) => sumOf(({ present }) => present.byStatus[status])),
      unanswered: sumOf(({ present }) => present.unanswered),
    },
    provisioning: {
      count: provisioned.length,
      p50_seconds: quantile(provisioned, 0.5),
      p95_seconds: quantile(provisioned, 0.95),
      failures: sumOf((part) => part.provisioning.failures),
    },
    teardown: {
      p95_seconds: quantile(sortedNumbers(parts.map((part) => part.teardown.seconds)), 0.95),
      stuck: sumOf((part) => part.teardown.stuck),
    },
    expiry: {
      pending_24h: sumOf((part) => part.expiry.pending),
      max_lateness_seconds: parts.reduce((latest, part) => Math.max(latest, part.expiry.latestMs), 0) / 1000,
    },
  };
}

/** Metrics of the platform, now and in the period. */
export function platformMetrics({ period, ofEnvironments, unanswered }: UsageMetrics, services: Services): Report {
  const counts = countedIn(services.rollups, period);
  const of = (counter: string) => counts[counter] ?? 0;
  const outcome = (name: string) => of(COUNTERS.webhookOutcome(name));
  return {
    period: toPeriod(period),
    ...ofEnvironments,
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
      queue_depth: unanswered,
      p95_ms: quantileMs(counts, COUNTERS.reconcileMs, 0.95) ?? null,
      errors: of(COUNTERS.reconcileErrors),
    },
    coverage: coverageOf(services.rollups),
  };
}

function presentOf(all: readonly UsageRecord[]) {
  const counts = byStatus(() => 0);
  let [total, unanswered] = [0, 0];
  for (const { phase, isUnanswered } of all) {
    if (phase === undefined) continue;
    total += 1;
    counts[phase] += 1;
    unanswered += Number(isUnanswered);
  }
  return { total, byStatus: counts, unanswered };
}

const byStatus = (count: (status: Phase) => number) =>
  Object.fromEntries(STATUSES.map((status) => [status, count(status)])) as Record<Phase, number>;

// Each in one pass without lists of one: there may be tens of thousands.
function provisioning(all: readonly UsageRecord[], period: Period) {
  const seconds: number[] = [];
  let failures = 0;
  for (const { createdMs, readyMs, isFailed } of all) {
    if (!isWithin(period, createdMs)) continue;
    if (readyMs !== undefined) seconds.push((readyMs - createdMs) / 1000);
    else failures += Number(isFailed);
  }
  return { seconds: Float64Array.from(seconds), failures };
}

function teardown(all: readonly UsageRecord[], period: Period, nowMs: number) {
  const seconds: number[] = [];
  let stuck = 0;
  for (const { deletedMs, goneMs } of all) {
    if (deletedMs === undefined) continue;
    if (goneMs === undefined) stuck += Number(nowMs - deletedMs > DELETION_MS);
    else if (isWithin(period, goneMs)) seconds.push((goneMs - deletedMs) / 1000);
  }
  return { seconds: Float64Array.from(seconds), stuck };
}

function expiry(all: readonly UsageRecord[], period: Period, nowMs: number) {
  let [pending, latestMs] = [0, 0];
  for (const { dueMs, deletedMs } of all) {
    if (dueMs === undefined) continue;
    if (deletedMs === undefined && dueMs <= nowMs + DAY_MS) pending += 1;
    if (isWithin(period, dueMs)) latestMs = Math.max(latestMs, (deletedMs ?? nowMs) - dueMs);
  }
  return { pending, latestMs };
}

/** Value that the share of all values does not exceed; `null` without any. */
function quantile(sorted: Float64Array, share: number): number | null {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null;
}
