import { quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import type { BenchWorld } from "./bench-world.ts";
import { type CreationSizes, DEADLINE_MS, operatorMaker, type Samples, SELDOM_SECONDS, turn } from "./creations.ts";
import type { MeasuredOperator } from "./measured-operator.ts";

/** What metrics and Events may add. */
const MOST = 1.03;

/** An operator that takes its turns, and what it took for them. */
interface Measured {
  readonly operator: MeasuredOperator;
  readonly samples: Samples;
  /** What the process computed in its turns, on all its threads. */
  cpuSeconds: number;
}

/** The same creations by two operators that take turns: one with metrics and Events, one without either. */
export async function measureObservability(bench: BenchWorld, sizes: CreationSizes): Promise<Verdict[]> {
  const started = async (isUnobserved: boolean): Promise<Measured> => {
    const operator = bench.startOperator({ probeSeconds: SELDOM_SECONDS, isUnobserved });
    await operator.converged(DEADLINE_MS);
    operator.freeze();
    return { operator, samples: { chainMs: [], manyMs: [] }, cpuSeconds: 0 };
  };
  const [observed, unobserved] = [await started(false), await started(true)];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const turns = [
      () => take(bench, observed, { name: "observed", round, sizes }),
      () => take(bench, unobserved, { name: "unobserved", round, sizes }),
    ];
    for (const one of round % 2 === 0 ? turns : turns.reverse()) await one();
    process.stderr.write(`metrics and Events, round ${round + 1} of ${sizes.rounds}\n`);
  }
  for (const { operator } of [observed, unobserved]) {
    operator.thaw();
    await operator.stop();
  }
  return [wayVerdict(observed, unobserved), rateVerdict(observed, unobserved, sizes)];
}

interface Taken {
  readonly name: string;
  readonly round: number;
  readonly sizes: CreationSizes;
}

async function take(bench: BenchWorld, measured: Measured, { name, round, sizes }: Taken): Promise<void> {
  const { operator, samples } = measured;
  operator.thaw();
  const { cpuSeconds: before } = await operator.figures();
  await turn(bench, { ...operatorMaker(bench, operator), name }, { round, sizes, samples });
  measured.cpuSeconds += (await operator.figures()).cpuSeconds - before;
  operator.freeze();
}

function wayVerdict({ samples: { chainMs } }: Measured, { samples: without }: Measured): Verdict {
  const say = (samples: readonly number[]) =>
    `p50 ${quantile(samples, 0.5).toFixed(1)} ms, p90 ${quantile(samples, 0.9).toFixed(1)} ms`;
  return {
    what: "one environment's way to ready with metrics and Events, beside without, at p50",
    figure: quantile(chainMs, 0.5) / quantile(without.chainMs, 0.5),
    limit: MOST,
    unit: "×",
    detail: `with ${say(chainMs)}; without ${say(without.chainMs)}; n=${chainMs.length}`,
  };
}

function rateVerdict(
  observed: Measured,
  unobserved: Measured,
  { rounds, warmUp, single, many }: CreationSizes,
): Verdict {
  const made = rounds * (warmUp + single + many);
  const say = ({ cpuSeconds }: Measured) => `${((cpuSeconds * 1000) / made).toFixed(2)} ms`;
  const perSecond = ({ samples: { manyMs } }: Measured) =>
    ((many * manyMs.length * 1000) / manyMs.reduce((sum, one) => sum + one, 0)).toFixed(1);
  return {
    what: "environments a second with metrics and Events, beside without",
    figure: Number(perSecond(observed)) / Number(perSecond(unobserved)),
    limit: 1 / MOST,
    isAtLeast: true,
    unit: "×",
    detail: `with ${perSecond(observed)} a second, without ${perSecond(unobserved)}; the process computes ${say(observed)} for each with, ${say(unobserved)} without`,
  };
}
