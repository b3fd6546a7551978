import type { Costs } from "../../config/costs.schema.ts";
import type { Settings } from "../../config/settings.ts";
import type { Dimension, Totals } from "../../crds/usage/period-summary.ts";
import { amountOf, priceOfHour, totalPriceOf } from "../../crds/usage/price.ts";
import type { Slept } from "../../crds/usage/sleeps.ts";
import { pointsOf } from "../../crds/usage/summarizer.ts";
import { byName, type UsageRecord } from "../../crds/usage/usage-record.ts";
import { type Caller, visibleTo } from "../auth/access.ts";
import { amountOrNull } from "../costs/views.ts";
import type { UsageSum } from "../observability/memo.ts";
import { greatestFirst, namedRows, type ReportServices, rightsTo } from "../observability/named-rows.ts";
import { rounded } from "../schemas/fields.ts";
import { toPeriod } from "../schemas/period.ts";
import type { SeriesOf } from "./dashboard.ts";
import type { SleepInsights } from "./schemas.ts";
import { hoursAhead } from "./waste-rules.ts";

const HOUR_S = 3_600;
const MOST_CANDIDATES = 20;
/** A working week, in whatever time zone. */
const ASSUMED_AWAKE = "Mon-Fri 08:00-19:00";
const WEEK_HOURS = 7 * 24;
const ASLEEP_SHARE = 1 - (5 * 11) / WEEK_HOURS;

interface Candidate {
  readonly record: UsageRecord;
  readonly cents: number;
}

/** Ready environments whose sleep is undecided, the greatest saving first; the same for every caller. */
export function sleepCandidates({
  costs,
}: Pick<Settings, "costs">): UsageSum<readonly Candidate[], readonly Candidate[]> {
  return {
    ofPart: (records, now) => candidatesOf(records, now.getTime(), costs),
    whole: (parts) => parts.flat().sort(greatestSavingFirst),
  };
}

function candidatesOf(records: readonly UsageRecord[], nowMs: number, costs: Costs): readonly Candidate[] {
  const all: Candidate[] = [];
  for (const record of records) {
    const requested = record.usage?.at(-1);
    if (!record.isSleepOpen || record.phase !== "ready" || requested === undefined) continue;
    const { cpu, memory } = priceOfHour(requested, costs);
    const hours = Math.min(WEEK_HOURS, hoursAhead(record, nowMs));
    const cents = Math.round((cpu + memory) * hours * ASLEEP_SHARE);
    if (cents > 0) all.push({ record, cents });
  }
  return all.sort(greatestSavingFirst);
}

const greatestSavingFirst = (one: Candidate, other: Candidate) =>
  other.cents - one.cents || byName(one.record, other.record);

interface Requested extends SeriesOf {
  readonly candidates: readonly Candidate[];
  readonly dimension: Dimension;
}

/** Saving by sleep in the period, and a possible one. */
export function toSleepInsights(
  { report, interval, candidates, dimension }: Requested,
  caller: Caller,
  services: ReportServices,
): SleepInsights {
  const { costs } = services.settings;
  const { period, days, whole } = report.summary;
  const { total, by } = whole;
  const cents = savedCents(total, costs);
  const groups = namedRows(by[dimension], dimension, caller, services)
    .filter(({ totals }) => asleepSeconds(totals) > 0)
    .map(({ id, kind, totals }) => ({ id, kind, ...toSlept(totals, costs) }));
  return {
    period: toPeriod(period),
    currency: costs.currency,
    asleep: {
      hours: hoursOf(asleepSeconds(total)),
      percent: percentOf(asleepSeconds(total), total.thereSeconds),
      by_cause: {
        schedule: hoursOf(total.scheduleSleepSeconds),
        idle: hoursOf(total.idleSleepSeconds),
        person: hoursOf(total.personSleepSeconds),
      },
    },
    saved: {
      total: amountOrNull(cents),
      total_cents: cents,
      known_percent: percentOf(total.savedSeconds, asleepSeconds(total)),
    },
    group_by: dimension,
    groups: greatestFirst(groups, ({ asleep_hours }) => asleep_hours),
    series: pointsOf(days, interval).map(({ date, summary }) => ({ date, ...toSlept(summary.total, costs) })),
    possible: toPossible(candidates, caller),
  };
}

function toSlept(totals: Totals, costs: Costs) {
  const cents = savedCents(totals, costs);
  return { asleep_hours: hoursOf(asleepSeconds(totals)), saved: amountOrNull(cents), saved_cents: cents };
}

function toPossible(candidates: readonly Candidate[], caller: Caller): SleepInsights["possible"] {
  const isVisible = visibleTo(caller);
  const visible = candidates.filter(({ record }) => isVisible(rightsTo(record)));
  const toSaving = (cents: number) => ({ saving: amountOf(cents), saving_cents: cents });
  return {
    assumed_awake: ASSUMED_AWAKE,
    environments: visible.length,
    ...toSaving(visible.reduce((sum, { cents }) => sum + cents, 0)),
    greatest: visible
      .slice(0, MOST_CANDIDATES)
      .map(({ record: { uid, name }, cents }) => ({ id: uid, name, ...toSaving(cents) })),
  };
}

/** Saving in whole cents; `null` while nothing of it is known. Pods that a sleep leaves may cost more than was saved. */
function savedCents({ savedSeconds, savedCpu, savedMemory, savedStorage }: Slept, costs: Costs): number | null {
  const saved = { cpu: savedCpu, memory: savedMemory, storage: savedStorage };
  return savedSeconds === 0 ? null : Math.round(totalPriceOf(saved, costs));
}

const asleepSeconds = ({ scheduleSleepSeconds, idleSleepSeconds, personSleepSeconds }: Slept): number =>
  scheduleSleepSeconds + idleSleepSeconds + personSleepSeconds;
const hoursOf = (seconds: number): number => rounded(seconds / HOUR_S, 2);
const percentOf = (part: number, whole: number): number | null => rounded(whole === 0 ? null : (100 * part) / whole, 2);
