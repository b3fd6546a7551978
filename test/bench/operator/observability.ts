import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { type CreationSizes, madeIn, type Samples } from "./creation-samples.ts";

/** The limits for a creation's time with metrics and Events, and for the rate. */
const [MOST, LEAST] = [1.03, 0.97];
/** The limit for CPU time: two Events a creation are two more writes beside about fourteen. */
const MOST_CPU = 1.2;

/** Verdicts on the costs of metrics and Events: creations with them beside those without, in turns of one process. */
export function observabilityVerdicts(observed: Samples, unobserved: Samples, sizes: CreationSizes): Verdict[] {
  return [
    wayVerdict(observed, unobserved, sizes.single),
    rateVerdict(observed, unobserved, sizes.many),
    cpuVerdict(observed, unobserved, madeIn(sizes)),
  ];
}

function wayVerdict({ chainMs }: Samples, without: Samples, single: number): Verdict {
  const say = (samples: readonly number[]) =>
    `p50 ${median(samples).toFixed(1)} ms, p90 ${quantile(samples, 0.9).toFixed(1)} ms`;
  const ratios = ratiosOf(middles(chainMs, single), middles(without.chainMs, single));
  return {
    what: "one environment's way to ready with metrics and Events, beside without, at p50",
    figure: median(ratios),
    limit: MOST,
    unit: "×",
    detail: `with ${say(chainMs)}; without ${say(without.chainMs)}; n=${chainMs.length}; ${spreadOf(ratios)}`,
  };
}

function rateVerdict(observed: Samples, without: Samples, many: number): Verdict {
  const perSecond = ({ manyMs }: Samples) => `${((many * 1000) / median(manyMs)).toFixed(1)} a second`;
  const ratios = ratiosOf(without.manyMs, observed.manyMs);
  return {
    what: "environments a second with metrics and Events, beside without",
    figure: median(ratios),
    limit: LEAST,
    isAtLeast: true,
    unit: "×",
    detail: `with ${perSecond(observed)}, without ${perSecond(without)}; ${spreadOf(ratios)}`,
  };
}

function cpuVerdict({ cpuSeconds }: Samples, { cpuSeconds: without }: Samples, made: number): Verdict {
  const each = (seconds: readonly number[]) => `${((median(seconds) * 1000) / made).toFixed(2)} ms`;
  const ratios = ratiosOf(cpuSeconds, without);
  return {
    what: "processor time of the process with metrics and Events, beside without",
    figure: median(ratios),
    limit: MOST_CPU,
    unit: "×",
    detail: `with ${each(cpuSeconds)} for each environment, without ${each(without)}, the writes of all Events included; ${spreadOf(ratios)}`,
  };
}

function middles(samples: readonly number[], each: number): number[] {
  const ofRound = (round: number) => samples.slice(round * each, (round + 1) * each);
  return Array.from({ length: samples.length / each }, (_, round) => median(ofRound(round)));
}

/** Ratios of each round: a slow phase of the machine affects both sides. */
const ratiosOf = (ones: readonly number[], others: readonly number[]) =>
  ones.map((one, round) => one / (others[round] as number));

/** Says how far the rounds are from each other: where the machine's speed varies more than the limit, one run decides nothing. */
function spreadOf(ratios: readonly number[]): string {
  const [low, high] = [quantile(ratios, 0.25), quantile(ratios, 0.75)].map((ratio) => `${ratio.toFixed(2)}×`);
  return `the middle of ${ratios.length} rounds, whose quartiles are ${low} and ${high}`;
}
