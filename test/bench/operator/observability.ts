import { quantile } from "../table.ts";
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
    `p50 ${quantile(samples, 0.5).toFixed(1)} ms, p90 ${quantile(samples, 0.9).toFixed(1)} ms`;
  return {
    what: "one environment's way to ready with metrics and Events, beside without, at p50",
    figure: middleRatio(middles(chainMs, single), middles(without.chainMs, single)),
    limit: MOST,
    unit: "×",
    detail: `with ${say(chainMs)}; without ${say(without.chainMs)}; n=${chainMs.length}; the middle of the rounds`,
  };
}

function rateVerdict(observed: Samples, without: Samples, many: number): Verdict {
  const perSecond = ({ manyMs }: Samples) => (many * 1000) / quantile(manyMs, 0.5);
  return {
    what: "environments a second with metrics and Events, beside without",
    figure: 1 / middleRatio(observed.manyMs, without.manyMs),
    limit: LEAST,
    isAtLeast: true,
    unit: "×",
    detail: `with ${perSecond(observed).toFixed(1)} a second, without ${perSecond(without).toFixed(1)}; the middle of ${observed.manyMs.length} rounds`,
  };
}

function cpuVerdict({ cpuSeconds }: Samples, { cpuSeconds: without }: Samples, made: number): Verdict {
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
  const ratios = ones.map((one, round) => one / (others[round] as number)).toSorted((one, other) => one - other);
  const middle = (ratios.length - 1) / 2;
  return ((ratios[Math.floor(middle)] as number) + (ratios[Math.ceil(middle)] as number)) / 2;
}
