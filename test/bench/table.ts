/** Samples under one name; with a baseline of the same run, the ratio of the medians is shown. */
export interface Row {
  readonly name: string;
  readonly samples: readonly number[];
  readonly unit: string;
  readonly baseline?: readonly number[];
}

/** Rows as text: p50, p99 (nearest rank), number of samples, ratio to the baseline. */
export function table(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(({ name }) => name.length));
  const line = ({ name, samples, unit, baseline }: Row) => {
    const [p50, p99] = [quantile(samples, 0.5), quantile(samples, 0.99)];
    const ratio = baseline ? `${(p50 / quantile(baseline, 0.5)).toFixed(2)}× the baseline` : "";
    return `${name.padEnd(width)}  p50 ${p50.toFixed(1).padStart(8)} ${unit}  p99 ${p99.toFixed(1).padStart(8)} ${unit}  n=${samples.length}  ${ratio}`;
  };
  return rows.map(line).join("\n");
}

export function quantile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((one, other) => one - other);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
