import { Empty } from "../parts/empty.tsx";
import { Table } from "../parts/table.tsx";
import { barsOf, type ChartColumn, HEIGHT, highestOf, WIDTH } from "./bars.ts";

interface BarChartProps {
  readonly title: string;
  readonly series: readonly string[];
  readonly columns: readonly ChartColumn[];
  readonly text: (value: number | null) => string;
}

/** Bars over time, and the same numbers as a table. */
export function BarChart({ title, series, columns, text }: BarChartProps) {
  const highest = highestOf(columns);
  if (highest === 0) return <Empty title={`${title}: nothing in this time`} />;
  return (
    <figure class="chart">
      <figcaption>
        {title}
        {series.length > 1 && (
          <ul class="legend">
            {series.map((name, index) => (
              <li key={name} data-series={index}>
                {name}
              </li>
            ))}
          </ul>
        )}
      </figcaption>
      <div class="plot">
        <span class="scale">{text(highest)}</span>
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${title}, as bars`}>
          {barsOf(columns).map(({ series: own, column, ...box }) => (
            <rect key={`${column}-${own}`} data-series={own} {...box}>
              <title>{`${columns[column]?.label}: ${series[own]} ${text(columns[column]?.values[own] ?? null)}`}</title>
            </rect>
          ))}
        </svg>
        <div class="ends">
          <span>{columns[0]?.label}</span>
          <span>{columns.at(-1)?.label}</span>
        </div>
      </div>
      <details>
        <summary>Numbers</summary>
        <Table caption={title} columns={["Day", ...series.map((name) => `#${name}`)]}>
          {columns.map(({ label, values }) => (
            <tr key={label}>
              <th scope="row">{label}</th>
              {values.map((value, index) => (
                <td key={series[index]} class="number">
                  {text(value)}
                </td>
              ))}
            </tr>
          ))}
        </Table>
      </details>
    </figure>
  );
}
