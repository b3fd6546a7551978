import { PHASES } from "../../crds/environment/environment-status.schema.ts";
import type { Life } from "../../crds/environment/life.ts";
import { type Dimension, isWithin, type Period } from "../../operator/ports/observability/summary.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import type { CostFigures } from "../costs/figures.ts";
import { greatestFirst, type NamedRow, namedRows, rightsTo } from "../observability/named-rows.ts";
import { pointsOf } from "../observability/period-summary.ts";
import { rounded } from "../schemas/fields.ts";
import { toPeriod } from "../schemas/period.ts";
import type { Services } from "../services.ts";
import type { SeriesOf } from "./dashboard.ts";
import { averageLifetimeHours, successRate } from "./ratios.ts";
import { type EnvironmentAnalytics, type Group, TRIGGERS } from "./schemas.ts";

const HOUR_MS = 3_600_000;
/** Time without a change after which a ready environment is stale. */
export const UNCHANGED_MS = 48 * HOUR_MS;
const MOST_REASONS = 20;
const MOST_STALE = 20;

/** Statistics of all environments, equal for every caller. */
export interface KnownLives {
  readonly by_status: EnvironmentAnalytics["by_status"];
  readonly ttl: EnvironmentAnalytics["ttl"];
  readonly failure_reasons: EnvironmentAnalytics["failure_reasons"];
  /** The longest unchanged first. */
  readonly stale: readonly Life[];
  readonly nowMs: number;
}

export function knownLives(lives: readonly Life[], period: Period, now: Date): KnownLives {
  const nowMs = now.getTime();
  const created = lives.filter(({ createdMs }) => isWithin(period, createdMs));
  const byStatus = PHASES.map((status) => [status, lives.filter(({ phase }) => phase === status).length]);
  return {
    by_status: Object.fromEntries(byStatus) as KnownLives["by_status"],
    ttl: ttlOf(created),
    failure_reasons: failureReasons(created),
    stale: lives
      .filter((life) => life.phase === "ready" && unchangedMs(life, nowMs) >= UNCHANGED_MS)
      .sort((one, other) => unchangedMs(other, nowMs) - unchangedMs(one, nowMs)),
    nowMs,
  };
}

/** Time since the last change. */
export const unchangedMs = ({ changedMs, createdMs }: Life, nowMs: number): number => nowMs - (changedMs ?? createdMs);

type Used = Pick<Services, "repositories" | "configSets">;

/** Statistics of environments by a common property. */
export function toAnalytics(
  { figures, interval, known }: SeriesOf & { readonly known: KnownLives },
  caller: Caller,
  services: Used,
): EnvironmentAnalytics {
  const { period, days, whole } = figures.summary;
  const { by_status, ttl, failure_reasons, stale, nowMs } = known;
  const groups = (dimension: Dimension) => groupsOf(figures, dimension, { caller, services });
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
      .filter((life) => isVisible(rightsTo(life)))
      .slice(0, MOST_STALE)
      .map((life) => toStale(life, nowMs)),
  };
}

function groupsOf(
  { summary }: CostFigures,
  dimension: Dimension,
  { caller, services }: { readonly caller: Caller; readonly services: Used },
): Group[] {
  const rows = namedRows(summary.whole.by[dimension], dimension, caller, services);
  return greatestFirst(rows.map(toGroup), ({ created }) => created);
}

function toGroup({ id, kind, tally }: NamedRow): Group {
  const { created, deleted, failed } = tally;
  const ratios = { success_rate: successRate(tally), average_lifetime_hours: averageLifetimeHours(tally) };
  return { id, kind, created, deleted, failed, ...ratios };
}

function ttlOf(created: readonly Life[]): EnvironmentAnalytics["ttl"] {
  const hours = Float64Array.from(created.flatMap(({ ttlHours }) => ttlHours ?? [])).sort();
  if (hours.length === 0) return { average_hours: null, median_hours: null, longest_hours: null };
  return {
    average_hours: rounded(hours.reduce((sum, one) => sum + one, 0) / hours.length, 2),
    median_hours: hours[Math.ceil(hours.length / 2) - 1] ?? null,
    longest_hours: hours.at(-1) ?? null,
  };
}

function failureReasons(created: readonly Life[]): EnvironmentAnalytics["failure_reasons"] {
  const counts = new Map<string, number>();
  for (const { failure } of created) if (failure !== undefined) counts.set(failure, (counts.get(failure) ?? 0) + 1);
  return [...counts]
    .map(([reason, environments]) => ({ reason, environments }))
    .sort((one, other) => other.environments - one.environments || one.reason.localeCompare(other.reason))
    .slice(0, MOST_REASONS);
}

function toStale(life: Life, nowMs: number): EnvironmentAnalytics["stale"][number] {
  const { uid, name, repository, dueMs } = life;
  return {
    id: uid,
    name,
    repository: repository ?? null,
    unchanged_hours: rounded(unchangedMs(life, nowMs) / HOUR_MS, 1),
    expires_at: dueMs === undefined ? null : new Date(dueMs).toISOString(),
  };
}
