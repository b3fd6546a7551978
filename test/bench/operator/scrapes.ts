import { setTimeout as pause } from "node:timers/promises";
import { type IdleServer, startIdleServer } from "../idle.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import type { BenchWorld } from "./bench-world.ts";
import type { MeasuredOperator } from "./measured-operator.ts";

const DEADLINE_MS = 300_000;
/** Duration of a turn with a scrape, and of one without. */
const TURN_MS = 500;

/** The longest delay of the event loop in each turn, in milliseconds. */
interface Longest {
  readonly scraped: number[];
  readonly quiet: number[];
  /** Delays of an idle process, in all turns. */
  readonly idle: number[];
}

/** The time that a scrape blocks the leader's event loop: it reads the figures of all environments. */
export async function measureScrapes(bench: BenchWorld, { rounds }: { readonly rounds: number }): Promise<Verdict[]> {
  const idle = await startIdleServer();
  const operator = bench.startOperator();
  const longest: Longest = { scraped: [], quiet: [], idle: [] };
  try {
    await operator.converged(DEADLINE_MS);
    await bench.untilQuiet();
    for (let round = 0; round < rounds; round += 1) {
      const kinds = ["quiet", "scraped"] as const;
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) await turn(kind, { operator, idle, longest });
    }
    return verdictsOf(longest, (await operator.figures()).scrapeBytes);
  } finally {
    await operator.stop();
    await idle.stop();
  }
}

interface Measured {
  readonly operator: MeasuredOperator;
  readonly idle: IdleServer;
  readonly longest: Longest;
}

async function turn(kind: "quiet" | "scraped", { operator, idle, longest }: Measured): Promise<void> {
  await Promise.all([operator.restartDelays(), idle.restartDelays()]);
  if (kind === "scraped") await operator.scrape();
  await pause(TURN_MS);
  longest[kind].push((await operator.figures()).delays.longest);
  longest.idle.push((await idle.delays()).longest);
}

function verdictsOf({ scraped, quiet, idle }: Longest, bytes: number): Verdict[] {
  const say = (samples: readonly number[]) =>
    `p50 ${median(samples).toFixed(1)} ms, p90 ${quantile(samples, 0.9).toFixed(1)} ms`;
  return [
    { what: "bytes of the leader's scrape", figure: bytes / 1e6, limit: 1, unit: "MB", detail: `${bytes} bytes` },
    {
      what: "longest event-loop delay of the leader with a scrape, p50, beside an idle process",
      figure: median(scraped) / median(idle),
      limit: 10,
      unit: "×",
      detail: `in ${TURN_MS} ms with a scrape ${say(scraped)}; without ${say(quiet)}; of an idle process ${say(idle)}`,
    },
  ];
}
