import { GROUP } from "../../../../crds/group.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import { present } from "../../../../crds/present.ts";
import {
  byDimension,
  type Dimension,
  NO_TOTALS,
  type PeriodSummary,
  type Rows,
  type Totals,
} from "../../../../crds/usage/period-summary.ts";
import type { Rollup, SlotCounts } from "../../../../crds/usage/rollup.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import { insteadOf, isAlreadyExists, isConflict } from "../../../kit/client/errors.ts";
import { configMapKind, type WireObject } from "../../../kit/client/kinds.ts";
import type { RollupStore, Rollups, StoredRollup } from "../../../ports/rollups.ts";
import { isOvertaken, type UncachedStore } from "../store.ts";

/** Label with a rollup's day, in UTC. */
export const ROLLUP_LABEL = `${GROUP}/rollup`;
/** The admission policies let the platform change ConfigMaps of its namespace only below this name. */
const NAME_PREFIX = "rollup-";
const COUNTS = "counts.json";
const SUMMARY = "summary.json";

/** RollupStore port: one ConfigMap a day, in the platform's namespace. */
export function kubernetesRollupStore({ client, namespace }: UncachedStore): RollupStore {
  const refOf = (day: string) => ({ name: `${NAME_PREFIX}${day}`, namespace });
  const draft = (day: string, content: Rollup, resourceVersion?: string) => ({
    metadata: { ...refOf(day), labels: { [ROLLUP_LABEL]: day }, ...present({ resourceVersion }) },
    data: {
      [COUNTS]: writtenCounts(content),
      ...(content.summary !== undefined && { [SUMMARY]: writtenSummary(content.summary) }),
    },
  });
  return {
    async find(day) {
      const found = await client.find(configMapKind, refOf(day));
      return found && storedRollup(found);
    },
    create: (day, content) =>
      client.create(configMapKind, draft(day, content)).then(() => true, insteadOf(isAlreadyExists, false)),
    replace: ({ day, version }, content) =>
      client.replace(configMapKind, draft(day, content, version)).then(() => true, insteadOf(isOvertaken, false)),
    async list(signal) {
      const { items } = await client.list(configMapKind, { namespace, labelSelector: ROLLUP_LABEL, signal });
      return items.map(storedRollup);
    },
    async remove({ day, version: resourceVersion }) {
      await client.delete(configMapKind, refOf(day), { resourceVersion }).catch(insteadOf(isConflict, undefined));
    },
  };
}

/** Rollups port of the API, on this process's watch cache; each version of a rollup is parsed once, on use. */
export function watchedRollupDays(cache: Pick<ObjectCache<WireObject>, "list" | "subscribe">): Rollups {
  let summaryRevision = 0;
  let known: ReturnType<Rollups["days"]> | undefined;
  cache.subscribe((_key, current, previous) => {
    known = undefined;
    if (dataOf(current)[SUMMARY] !== dataOf(previous)[SUMMARY]) summaryRevision += 1;
  });
  const read = oncePer(storedRollup);
  const dayOf = oncePer((configMap: WireObject) => ({
    day: configMap.metadata.name.slice(NAME_PREFIX.length),
    get slots() {
      return read(configMap).slots;
    },
    get summary() {
      return read(configMap).summary;
    },
  }));
  return {
    days() {
      known ??= cache.list().map((configMap) => dayOf(configMap));
      return known;
    },
    get summaryRevision() {
      return summaryRevision;
    },
  };
}

function storedRollup(configMap: WireObject): StoredRollup {
  const { metadata } = configMap;
  const day = metadata.name.slice(NAME_PREFIX.length);
  const data = dataOf(configMap);
  const counts = orNothing(() => readCounts(data[COUNTS]));
  const summary = orNothing(() => readSummary(data[SUMMARY]));
  return { slots: {}, writers: {}, ...counts, summary, day, version: metadata.resourceVersion };
}

function dataOf(configMap: WireObject | undefined): Readonly<Record<string, string>> {
  return (configMap as { readonly data?: Readonly<Record<string, string>> } | undefined)?.data ?? {};
}

/** Unreadable content counts as nothing: it must not block the next counts. */
function orNothing<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Stored counts of a day. */
interface WrittenCounts {
  /** Names of counters, in the order of each slot's counts: once, because a day has hundreds of slots. */
  readonly counters: readonly string[];
  readonly slots: Readonly<Record<string, readonly number[]>>;
  readonly writers: Rollup["writers"];
}

function writtenCounts({ slots, writers }: Rollup): string {
  const counters = [...new Set(Object.values(slots).flatMap((counts) => Object.keys(counts)))].sort();
  const values = mapValues(slots, (counts) => counters.map((name) => counts[name] ?? 0));
  return JSON.stringify({ counters, slots: values, writers } satisfies WrittenCounts);
}

/** @throws SyntaxError for foreign text */
function readCounts(text: string | undefined): Partial<Rollup> {
  if (text === undefined) return {};
  const { counters, slots, writers } = JSON.parse(text) as Partial<WrittenCounts>;
  if (counters === undefined || slots === undefined || writers === undefined) throw new SyntaxError("no counts");
  const countsOf = (values: readonly number[]): SlotCounts =>
    Object.fromEntries(
      counters.map((name, index) => [name, values[index] ?? 0] as const).filter(([, count]) => count > 0),
    );
  return { slots: mapValues(slots, countsOf), writers };
}

/** Stored summary of a day, with rows by name. */
interface WrittenSummary {
  /** Names of the totals' fields, in the order of each row's values: once, because there may be thousands of rows. */
  readonly fields: readonly string[];
  readonly total: readonly number[];
  readonly by: Readonly<Partial<Record<Dimension, Readonly<Record<string, readonly number[]>>>>>;
  readonly peak: number;
}

const FIELDS = Object.keys(NO_TOTALS) as (keyof Totals)[];

/** Deterministic text of the summary. */
function writtenSummary({ total, by, peak }: PeriodSummary): string {
  const valuesOf = (totals: Totals) => FIELDS.map((field) => totals[field]);
  const sorted = (rows: Rows) => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
  const rowsOf = (rows: Rows) => Object.fromEntries(sorted(rows).map(([name, totals]) => [name, valuesOf(totals)]));
  const rows = byDimension((one) => rowsOf(by[one]));
  return JSON.stringify({ fields: FIELDS, total: valuesOf(total), by: rows, peak } satisfies WrittenSummary);
}

/** @throws SyntaxError for text other than JSON */
function readSummary(text: string | undefined): PeriodSummary | undefined {
  if (text === undefined) return undefined;
  const { fields, total, by, peak } = JSON.parse(text) as WrittenSummary;
  const totalsOf = (values: readonly number[]): Totals => ({
    ...NO_TOTALS,
    ...Object.fromEntries(values.map((value, index) => [fields[index], value])),
  });
  const rowsOf = (dimension: Dimension): Rows =>
    new Map(Object.entries(by[dimension] ?? {}).map(([name, values]) => [name, totalsOf(values)]));
  return { total: totalsOf(total), by: byDimension(rowsOf), peak };
}

const mapValues = <T, R>(record: Readonly<Record<string, T>>, change: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
