import type { Metrics } from "../../../../../operator/ports/metrics.ts";

/** The samples of a scrape, by name and labels in its text. */
export async function scraped(metrics: Pick<Metrics, "scrape">): Promise<ReadonlyMap<string, number>> {
  const { text } = await metrics.scrape();
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => {
      const [, sample = "", value] = /^(.+) (\S+)$/.exec(line) ?? [];
      return [sample, Number(value)];
    }),
  );
}

/** Samples whose name has this prefix, as an object. */
export async function scrapedOf(metrics: Pick<Metrics, "scrape">, begin: string) {
  return Object.fromEntries([...(await scraped(metrics))].filter(([sample]) => sample.startsWith(begin)));
}
