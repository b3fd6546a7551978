import type { RollupContent, SlotCounts } from "../../../ports/observability/rollups.ts";

type Counted = Pick<RollupContent, "slots" | "writers">;

interface Written {
  /** Names of counters, in the order of each slot's counts. */
  readonly counters: readonly string[];
  readonly slots: Readonly<Record<string, readonly number[]>>;
  readonly writers: Counted["writers"];
}

/** Text of the counts, with each counter named once: a day has hundreds of slots. */
export function writtenCounts({ slots, writers }: Counted): string {
  const counters = [...new Set(Object.values(slots).flatMap((counts) => Object.keys(counts)))].sort();
  const figures = Object.entries(slots).map(([slot, counts]) => [slot, counters.map((name) => counts[name] ?? 0)]);
  const written: Written = { counters, slots: Object.fromEntries(figures), writers };
  return JSON.stringify(written);
}

/** @throws SyntaxError for foreign text */
export function readCounts(text: string | undefined): Partial<Counted> {
  if (text === undefined) return {};
  const { counters, slots, writers } = JSON.parse(text) as Partial<Written>;
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
