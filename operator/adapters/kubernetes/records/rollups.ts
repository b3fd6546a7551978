import { GROUP } from "../../../../crds/group.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import type { ObjectCache } from "../../../kit/cache/object-cache.ts";
import { insteadOf, isAlreadyExists, isConflict, isNotFound } from "../../../kit/client/errors.ts";
import { configMapKind, type WireObject } from "../../../kit/client/kinds.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import type { Rollups } from "../../../ports/api/history.ts";
import type { RollupContent, RollupStore, SlotCounts, StoredRollup } from "../../../ports/observability/rollups.ts";
import {
  DIMENSIONS,
  type Dimension,
  NO_TALLY,
  type Rows,
  type Summary,
  type Tally,
} from "../../../ports/observability/summary.ts";

/** Label with a rollup's day, in UTC. */
export const ROLLUP_LABEL = `${GROUP}/rollup`;
/** The admission policies let the platform change ConfigMaps of its namespace only below this name. */
const NAME_PREFIX = "rollup-";
const COUNTS = "counts.json";
const SUMMARY = "summary.json";

/** RollupStore port: one ConfigMap a day, in the platform's namespace. */
export function kubernetesRollupStore({
  client,
  namespace,
}: {
  readonly client: KubeClient;
  readonly namespace: string;
}): RollupStore {
  const draft = (day: string, content: RollupContent, resourceVersion?: string) => ({
    metadata: {
      name: `${NAME_PREFIX}${day}`,
      namespace,
      labels: { [ROLLUP_LABEL]: day },
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    data: {
      [COUNTS]: writtenCounts(content),
      ...(content.summary !== undefined && { [SUMMARY]: writtenSummary(content.summary) }),
    },
  });
  const isChanged = (error: unknown) => isConflict(error) || isNotFound(error);
  return {
    async find(day) {
      const found = await client.find(configMapKind, { name: `${NAME_PREFIX}${day}`, namespace });
      return found && storedRollup(found);
    },
    create: (day, content) =>
      client.create(configMapKind, draft(day, content)).then(() => true, insteadOf(isAlreadyExists, false)),
    replace: ({ day, version }, content) =>
      client.replace(configMapKind, draft(day, content, version)).then(() => true, insteadOf(isChanged, false)),
    async list(signal) {
      const { items } = await client.list(configMapKind, { namespace, labelSelector: ROLLUP_LABEL, signal });
      return items.map(storedRollup);
    },
    async remove({ day, version: resourceVersion }) {
      const ref = { name: `${NAME_PREFIX}${day}`, namespace };
      await client.delete(configMapKind, ref, { resourceVersion }).catch(insteadOf(isConflict, undefined));
    },
  };
}

/** Rollups port of the API, on this process's watch cache; each version of a rollup is parsed once, on use. */
export function watchedRollupDays(cache: Pick<ObjectCache<WireObject>, "list" | "subscribe">): Rollups {
  let summaryRevision = 0;
  cache.subscribe((_key, current, previous) => {
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
    days: () => cache.list().map((configMap) => dayOf(configMap)),
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

type Counted = Pick<RollupContent, "slots" | "writers">;

interface WrittenCounts {
  /** Names of counters, in the order of each slot's counts. */
  readonly counters: readonly string[];
  readonly slots: Readonly<Record<string, readonly number[]>>;
  readonly writers: Counted["writers"];
}

/** Text of the counts, with each counter named once: a day has hundreds of slots. */
function writtenCounts({ slots, writers }: Counted): string {
  const counters = [...new Set(Object.values(slots).flatMap((counts) => Object.keys(counts)))].sort();
  const figures = Object.entries(slots).map(([slot, counts]) => [slot, counters.map((name) => counts[name] ?? 0)]);
  const written: WrittenCounts = { counters, slots: Object.fromEntries(figures), writers };
  return JSON.stringify(written);
}

/** @throws SyntaxError for foreign text */
function readCounts(text: string | undefined): Partial<Counted> {
  if (text === undefined) return {};
  const { counters, slots, writers } = JSON.parse(text) as Partial<WrittenCounts>;
  if (counters === undefined || slots === undefined || writers === undefined) throw new SyntaxError("no counts");
  const countsOf = (figures: readonly number[]): SlotCounts =>
    Object.fromEntries(
      counters.flatMap((name, index) => {
        const count = figures[index] ?? 0;
        return count === 0 ? [] : [[name, count]];
      }),
    );
  return {
    slots: Object.fromEntries(Object.entries(slots).map(([slot, figures]) => [slot, countsOf(figures)])),
    writers,
  };
}

/** Totals without field names: a ConfigMap may hold thousands. */
type Figures = readonly number[];

interface WrittenSummary {
  readonly fields: readonly string[];
  readonly total: Figures;
  readonly by: Readonly<Partial<Record<Dimension, Readonly<Record<string, Figures>>>>>;
  readonly peak: number;
}

const FIELDS = Object.keys(NO_TALLY) as (keyof Tally)[];

/** Deterministic text of the summary. */
function writtenSummary({ total, by, peak }: Summary): string {
  const figures = (tally: Tally) => FIELDS.map((field) => tally[field]);
  const sorted = (rows: Rows) => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = (of: Rows) => Object.fromEntries(sorted(of).map(([name, tally]) => [name, figures(tally)]));
  const written: WrittenSummary = {
    fields: FIELDS,
    total: figures(total),
    by: Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, rows(by[dimension])])),
    peak,
  };
  return JSON.stringify(written);
}

/** @throws SyntaxError for text other than JSON */
function readSummary(text: string | undefined): Summary | undefined {
  if (text === undefined) return undefined;
  const { fields, total, by, peak } = JSON.parse(text) as WrittenSummary;
  const tally = (figures: Figures): Tally => ({
    ...NO_TALLY,
    ...Object.fromEntries(figures.map((figure, index) => [fields[index], figure])),
  });
  const rows = (dimension: Dimension): Rows =>
    new Map(Object.entries(by[dimension] ?? {}).map(([name, figures]) => [name, tally(figures)]));
  return {
    total: tally(total),
    by: Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, rows(dimension)])) as Record<Dimension, Rows>,
    peak,
  };
}
