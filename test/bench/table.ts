/** Samples under one name; with a baseline of the same run, the ratio of the medians is shown. */
export interface Row {
  readonly name: string;
  readonly samples: readonly number[];
  readonly unit: string;
  readonly baseline?: readonly number[];
}

/** Rows as text: p50 (the median), p99 (nearest rank), number of samples, ratio to the baseline. */
export function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const line = ({ name, samples, unit, baseline }: Row) => {
    const [p50, p99] = [median(samples), quantile(samples, 0.99)];
    const ratio = baseline ? `${(p50 / median(baseline)).toFixed(2)}× the baseline` : "";
    return `${name.padEnd(width)}  p50 ${p50.toFixed(1).padStart(8)} ${unit}  p99 ${p99.toFixed(1).padStart(8)} ${unit}  n=${samples.length}  ${ratio}`;
  };
  return rows.map(line).join("\n");
}

/** The middle of the sorted samples; of an even number the mean of the two in the middle. */
export function median(samples: readonly number[]): number {
  const sorted = samples.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (low + high) / 2;
}

/** The smallest sample such that at least this share of all are no larger (nearest rank). */
export function quantile(samples: readonly number[], share: number): number {
  const sorted = samples.toSorted((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
