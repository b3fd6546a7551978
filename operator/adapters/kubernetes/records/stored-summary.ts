import {
  DIMENSIONS,
  type Dimension,
  NO_TALLY,
  type Rows,
  type Summary,
  type Tally,
} from "../../../ports/observability/summary.ts";

/** Totals without field names: a ConfigMap may hold thousands. */
type Figures = readonly number[];

interface Written {
  readonly fields: readonly string[];
  readonly total: Figures;
  readonly by: Readonly<Partial<Record<Dimension, Readonly<Record<string, Figures>>>>>;
  readonly peak: number;
}

const FIELDS = Object.keys(NO_TALLY) as (keyof Tally)[];

/** Deterministic text of the summary. */
export function writtenSummary({ total, by, peak }: Summary): string {
  const figures = (tally: Tally) => FIELDS.map((field) => tally[field]);
  const sorted = (rows: Rows) => [...rows].sort(([one], [other]) => (one < other ? -1 : 1));
  const rows = (of: Rows) => Object.fromEntries(sorted(of).map(([name, tally]) => [name, figures(tally)]));
  const written: Written = {
    fields: FIELDS,
    total: figures(total),
    by: Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, rows(by[dimension])])),
    peak,
  };
  return JSON.stringify(written);
}

/** @throws SyntaxError for text other than JSON */
export function readSummary(text: string | undefined): Summary | undefined {
  if (text === undefined) return undefined;
  const { fields, total, by, peak } = JSON.parse(text) as Written;
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
