/** Geometry of a chart's bars, without a browser. */

/** One column: its label, and a value for each series; `null` where it is unknown. */
export interface ChartColumn {
  readonly label: string;
  readonly values: readonly (number | null)[];
}

export interface Bar {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly series: number;
  readonly column: number;
}

/** The chart's own units; the browser stretches them. */
export const WIDTH = 600;
export const HEIGHT = 100;
const GAP = 0.25;

/** Bars of each column side by side, as high as their share of the highest. */
export function barsOf(columns: readonly ChartColumn[]): readonly Bar[] {
  const highest = highestOf(columns);
  if (highest === 0) return [];
  const step = WIDTH / columns.length;
  return columns.flatMap(({ values }, column) => {
    const width = (step * (1 - GAP)) / values.length;
    return values.flatMap((value, series) => {
      if (value === null || value <= 0) return [];
      const height = (value / highest) * HEIGHT;
      return [{ x: step * (column + GAP / 2) + width * series, y: HEIGHT - height, width, height, series, column }];
    });
  });
}

/** Greatest value; 0 where there is none. */
export const highestOf = (columns: readonly ChartColumn[]) =>
  Math.max(0, ...columns.flatMap(({ values }) => values.map((value) => value ?? 0)));
