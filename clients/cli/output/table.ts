import { plainLine } from "./plain.ts";

/** A column; wide ones only in wide tables. */
export interface Column<T> {
  readonly title: string;
  readonly of: (item: T) => string | number | undefined | null;
  readonly wide?: boolean;
}

/** Lines of a table without borders; a missing value is a dash. */
export function tableOf<T>(items: readonly T[], columns: readonly Column<T>[], withTitles: boolean): string {
  const cell = (value: string | number | undefined | null) => plainLine(String(value ?? "")) || "-";
  const rows = items.map((item) => columns.map(({ of }) => cell(of(item))));
  if (withTitles) rows.unshift(columns.map(({ title }) => title));
  const widths = columns.map((_, index) => Math.max(0, ...rows.map((row) => (row[index] ?? "").length)));
  return rows
    .map((row) => `${row.map((text, index) => text.padEnd(widths[index] ?? 0)).join("   ")}`.trimEnd())
    .map((line) => `${line}\n`)
    .join("");
}
