import { HOUR_MS } from "../../crds/durations.ts";
import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import { type Dimension, isWithin, sortedNumbers } from "../../crds/usage/period-summary.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import { byName, type UsageRecord } from "../../crds/usage/usage-record.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import type { CostReport } from "../costs/report.ts";
import type { UsageSum } from "../observability/memo.ts";
import { greatestFirst, type NamedResources, type NamedRow, namedRows, rightsTo } from "../observability/named-rows.ts";
import { rounded } from "../schemas/fields.ts";
import { type PeriodQuery, periodOf, toPeriod } from "../schemas/period.ts";
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

/** Statistics of some environments. */
interface PartStatistics {
  readonly byStatus: Counts;
  readonly ttlHours: Float64Array;
  readonly failureReasons: Counts;
  readonly stale: readonly UsageRecord[];
}

type Counts = ReadonlyMap<string, number>;

/** Statistics in the requested period. */
export function usageStatistics(query: PeriodQuery): UsageSum<PartStatistics, UsageStatistics> {
  return {
    ofPart(records, now) {
      const [period, nowMs] = [periodOf(query, now), now.getTime()];
      const created = records.filter(({ createdMs }) => isWithin(period, createdMs));
      return {
        byStatus: countsOf(records.flatMap(({ phase }) => phase ?? [])),
        ttlHours: Float64Array.from(created.flatMap(({ ttlHours }) => ttlHours ?? [])),
        failureReasons: countsOf(created.flatMap(({ failure }) => failure ?? [])),
        stale: records.filter((record) => record.phase === "ready" && unchangedMs(record, nowMs) >= UNCHANGED_MS),
      };
    },
    whole(parts, now) {
      const [byStatus, nowMs] = [sumOfCounts(parts.map((part) => part.byStatus)), now.getTime()];
      const counts = Object.fromEntries(PHASES.map((phase) => [phase, byStatus.get(phase) ?? 0]));
      return {
        by_status: counts as UsageStatistics["by_status"],
        ttl: ttlOf(sortedNumbers(parts.map(({ ttlHours }) => ttlHours))),
        failure_reasons: failureReasons(sumOfCounts(parts.map((part) => part.failureReasons))),
        stale: parts
          .flatMap(({ stale }) => stale)
          .sort((one, other) => unchangedMs(other, nowMs) - unchangedMs(one, nowMs) || byName(one, other)),
        nowMs,
      };
    },
  };
}

const countsOf = (names: readonly string[]): Counts => sumOfCounts(names.map((name) => [[name, 1]] as const));

function sumOfCounts(all: readonly Iterable<readonly [string, number]>[]): Counts {
  const sum = new Map<string, number>();
  for (const counts of all) for (const [name, count] of counts) sum.set(name, (sum.get(name) ?? 0) + count);
  return sum;
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

function ttlOf(hours: Float64Array): EnvironmentAnalytics["ttl"] {
  if (hours.length === 0) return { average_hours: null, median_hours: null, longest_hours: null };
  return {
    average_hours: rounded(hours.reduce((sum, one) => sum + one, 0) / hours.length, 2),
    median_hours: hours[Math.ceil(hours.length / 2) - 1] ?? null,
    longest_hours: hours.at(-1) ?? null,
  };
}

function failureReasons(counts: Counts): EnvironmentAnalytics["failure_reasons"] {
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
