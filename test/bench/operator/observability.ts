import { until } from "../../support/fixtures/until.ts";
import { quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import type { BenchWorld } from "./bench-world.ts";
import { type CreationSizes, DEADLINE_MS, operatorMaker, type Samples, SELDOM_SECONDS, turn } from "./creations.ts";
import type { Figures, MeasuredOperator } from "./measured-operator.ts";

/** The limits for a creation's time with metrics and Events, and for the rate. */
const [MOST, LEAST] = [1.03, 0.97];
/** The limit for CPU time: two Events a creation are two more writes beside about fourteen. */
const MOST_CPU = 1.2;

interface Measured {
  readonly isObserving: boolean;
  readonly samples: Samples;
  /** CPU time of its turns, on all threads, until the last Event was written. */
  readonly cpuSeconds: number[];
}

/**
 * Compares creations with and without metrics and Events, in turns of one process, which switches both: two equal processes
 * differ by more than the measured difference.
 *
 * During creations few Events are written (ADR 269). The others follow at the end of a turn: only the CPU time includes
 * them.
 */
export async function measureObservability(bench: BenchWorld, sizes: CreationSizes): Promise<Verdict[]> {
  const operator = bench.startOperator({ probeSeconds: SELDOM_SECONDS });
  await operator.converged(DEADLINE_MS);
  const [observed, unobserved] = [true, false].map(
    (isObserving): Measured => ({ isObserving, samples: { chainMs: [], manyMs: [] }, cpuSeconds: [] }),
  ) as [Measured, Measured];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const turns = [observed, unobserved];
    for (const one of round % 2 === 0 ? turns : turns.reverse()) await take(bench, operator, { one, round, sizes });
    process.stderr.write(`metrics and Events, round ${round + 1} of ${sizes.rounds}\n`);
  }
  await operator.stop();
  return [
    wayVerdict(observed, unobserved, sizes.single),
    rateVerdict(observed, unobserved, sizes.many),
    cpuVerdict(observed, unobserved, madeIn(sizes)),
  ];
}

interface Taken {
  readonly one: Measured;
  readonly round: number;
  readonly sizes: CreationSizes;
}

async function take(bench: BenchWorld, operator: MeasuredOperator, { one, round, sizes }: Taken): Promise<void> {
  await operator.observe(one.isObserving);
  const before = await operator.figures();
  const name = one.isObserving ? "observed" : "unobserved";
  await turn(bench, { ...operatorMaker(bench, operator), name }, { round, sizes, samples: one.samples });
  // Each creation has two Events.
  const expected = eventsOf(before) + (one.isObserving ? 2 * madeIn(sizes) : 0);
  const whenReported = async () => {
    const now = await operator.figures();
    return eventsOf(now) >= expected ? now : undefined;
  };
  const reported = await until(whenReported, { what: "every Event", deadlineMs: DEADLINE_MS, everyMs: 250 });
  one.cpuSeconds.push(reported.cpuSeconds - before.cpuSeconds);
}

const eventsOf = ({ writes }: Figures) => writes["create Event"] ?? 0;
const madeIn = ({ warmUp, single, many }: CreationSizes) => warmUp + single + many;

function wayVerdict({ samples: { chainMs } }: Measured, { samples: without }: Measured, single: number): Verdict {
  const say = (samples: readonly number[]) =>
    `p50 ${quantile(samples, 0.5).toFixed(1)} ms, p90 ${quantile(samples, 0.9).toFixed(1)} ms`;
  return {
    what: "one environment's way to ready with metrics and Events, beside without, at p50",
    figure: middleRatio(middles(chainMs, single), middles(without.chainMs, single)),
    limit: MOST,
    unit: "×",
    detail: `with ${say(chainMs)}; without ${say(without.chainMs)}; n=${chainMs.length}; the middle of the rounds`,
  };
}

function rateVerdict({ samples }: Measured, { samples: without }: Measured, many: number): Verdict {
  const perSecond = ({ manyMs }: Samples) => (many * 1000) / quantile(manyMs, 0.5);
  return {
    what: "environments a second with metrics and Events, beside without",
    figure: 1 / middleRatio(samples.manyMs, without.manyMs),
    limit: LEAST,
    isAtLeast: true,
    unit: "×",
    detail: `with ${perSecond(samples).toFixed(1)} a second, without ${perSecond(without).toFixed(1)}; the middle of ${samples.manyMs.length} rounds`,
  };
}

function cpuVerdict({ cpuSeconds }: Measured, { cpuSeconds: without }: Measured, made: number): Verdict {
  const each = (seconds: readonly number[]) => `${((quantile(seconds, 0.5) * 1000) / made).toFixed(2)} ms`;
  return {
    what: "processor time of the process with metrics and Events, beside without",
    figure: middleRatio(cpuSeconds, without),
    limit: MOST_CPU,
    unit: "×",
    detail: `with ${each(cpuSeconds)} for each environment, without ${each(without)}; the writes of all Events included`,
  };
}

function middles(samples: readonly number[], each: number): number[] {
  const ofRound = (round: number) => samples.slice(round * each, (round + 1) * each);
  return Array.from({ length: samples.length / each }, (_, round) => quantile(ofRound(round), 0.5));
}

/** The median of the rounds' ratios: a slow phase of the machine affects both sides. */
function middleRatio(ones: readonly number[], others: readonly number[]): number {
  return quantile(
    ones.map((one, round) => one / (others[round] as number)),
    0.5,
  );
}
