/** A limit and its measurement. */
export interface Verdict {
  readonly what: string;
  readonly figure: number;
  readonly limit: number;
  /** True for a lower limit. */
  readonly isAtLeast?: boolean;
  readonly unit: string;
  /** The components of the figure. */
  readonly detail: string;
}

export function isHeld({ figure, limit, isAtLeast = false }: Verdict): boolean {
  return isAtLeast ? figure >= limit : figure <= limit;
}

/** Verdicts as text, a line each, with the components below. */
export function report(verdicts: readonly Verdict[]): string {
  const width = Math.max(...verdicts.map(({ what }) => what.length));
  const lines = verdicts.map((verdict) => {
    const { what, figure, limit, isAtLeast, unit, detail } = verdict;
    const bound = `${isAtLeast ? "at least" : "at most"} ${limit} ${unit}`;
    const word = isHeld(verdict) ? "held    " : "NOT HELD";
    return `${word}  ${what.padEnd(width)}  ${figure.toFixed(2).padStart(8)} ${unit.padEnd(3)}  (${bound})\n          ${detail}`;
  });
  return lines.join("\n");
}
