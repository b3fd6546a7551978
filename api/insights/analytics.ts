import { HOUR_MS } from "../../crds/durations.ts";
import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import { type Dimension, isWithin, type Period } from "../../crds/usage/period-summary.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import type { UsageRecord } from "../../crds/usage/usage-record.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import type { CostReport } from "../costs/report.ts";
import { greatestFirst, type NamedResources, type NamedRow, namedRows, rightsTo } from "../observability/named-rows.ts";
import { rounded } from "../schemas/fields.ts";
import { toPeriod } from "../schemas/period.ts";
import type { SeriesOf } from "./dashboard.ts";
import { averageLifetimeHours, successRate } from "./ratios.ts";
import { type EnvironmentAnalytics, type Group, TRIGGERS } from "./schemas.ts";

/** Time without a change after which a ready environment is stale. */
export const UNCHANGED_MS = 48 * HOUR_MS;
const MOST_REASONS = 20;
const MOST_STALE = 20;

/** Statistics of all environments, equal for every caller. */
export interface UsageStatistics {
  readonly by_status: EnvironmentAnalytics["by_status"];
  readonly ttl: EnvironmentAnalytics["ttl"];
  readonly failure_reasons: EnvironmentAnalytics["failure_reasons"];
  /** The longest unchanged first. */
  readonly stale: readonly UsageRecord[];
  readonly nowMs: number;
}

export function usageStatistics(records: readonly UsageRecord[], period: Period, now: Date): UsageStatistics {
  const nowMs = now.getTime();
  const created = records.filter(({ createdMs }) => isWithin(period, createdMs));
  return {
    by_status: byStatus(records),
    ttl: ttlOf(created),
    failure_reasons: failureReasons(created),
    stale: records
      .filter((record) => record.phase === "ready" && unchangedMs(record, nowMs) >= UNCHANGED_MS)
      .sort((one, other) => unchangedMs(other, nowMs) - unchangedMs(one, nowMs)),
    nowMs,
  };
}

function byStatus(records: readonly UsageRecord[]): UsageStatistics["by_status"] {
  const counts = Object.fromEntries(PHASES.map((phase) => [phase, 0])) as UsageStatistics["by_status"];
  for (const { phase } of records) if (phase !== undefined) counts[phase] += 1;
  return counts;
}

/** Time since the last change. */
export const unchangedMs = ({ changedMs, createdMs }: UsageRecord, nowMs: number): number =>
  nowMs - (changedMs ?? createdMs);

/** Statistics of environments by a common property. */
export function toAnalytics(
  { report, interval, statistics }: SeriesOf & { readonly statistics: UsageStatistics },
  caller: Caller,
  services: NamedResources,
): EnvironmentAnalytics {
  const { period, days, whole } = report.summary;
  const { by_status, ttl, failure_reasons, stale, nowMs } = statistics;
  const groups = (dimension: Dimension) => groupsOf(report, dimension, { caller, services });
  const isVisible = visibleTo(caller);
  return {
    period: toPeriod(period),
    series: pointsOf(days, interval).map(({ date, summary: { total } }) => {
      const { created, succeeded, failed, deleted, expired } = total;
      return { date, created, succeeded, failed, deleted, expired };
    }),
    by_status,
    by_repository: groups("repository"),
    by_trigger: Object.fromEntries(
      TRIGGERS.map((trigger) => [trigger, whole.by.trigger.get(trigger)?.created ?? 0]),
    ) as EnvironmentAnalytics["by_trigger"],
    by_config_set: groups("config_set"),
    ttl,
    failure_reasons,
    stale: stale
      .filter((record) => isVisible(rightsTo(record)))
      .slice(0, MOST_STALE)
      .map((record) => toStale(record, nowMs)),
  };
}

function groupsOf(
  { summary }: CostReport,
  dimension: Dimension,
  { caller, services }: { readonly caller: Caller; readonly services: NamedResources },
): Group[] {
  const rows = namedRows(summary.whole.by[dimension], dimension, caller, services);
  return greatestFirst(rows.map(toGroup), ({ created }) => created);
}

function toGroup({ id, kind, totals }: NamedRow): Group {
  const { created, deleted, failed } = totals;
  const ratios = { success_rate: successRate(totals), average_lifetime_hours: averageLifetimeHours(totals) };
  return { id, kind, created, deleted, failed, ...ratios };
}

function ttlOf(created: readonly UsageRecord[]): EnvironmentAnalytics["ttl"] {
  const hours = Float64Array.from(created.flatMap(({ ttlHours }) => ttlHours ?? [])).sort();
  if (hours.length === 0) return { average_hours: null, median_hours: null, longest_hours: null };
  return {
    average_hours: rounded(hours.reduce((sum, one) => sum + one, 0) / hours.length, 2),
    median_hours: hours[Math.ceil(hours.length / 2) - 1] ?? null,
    longest_hours: hours.at(-1) ?? null,
  };
}

function failureReasons(created: readonly UsageRecord[]): EnvironmentAnalytics["failure_reasons"] {
  const counts = new Map<string, number>();
  for (const { failure } of created) if (failure !== undefined) counts.set(failure, (counts.get(failure) ?? 0) + 1);
  return [...counts]
    .map(([reason, environments]) => ({ reason, environments }))
    .sort((one, other) => other.environments - one.environments || one.reason.localeCompare(other.reason))
    .slice(0, MOST_REASONS);
}

function toStale(record: UsageRecord, nowMs: number): EnvironmentAnalytics["stale"][number] {
  const { uid, name, repository, dueMs } = record;
  return {
    id: uid,
    name,
    repository: repository ?? null,
    unchanged_hours: rounded(unchangedMs(record, nowMs) / HOUR_MS, 1),
    expires_at: dueMs === undefined ? null : new Date(dueMs).toISOString(),
  };
}
