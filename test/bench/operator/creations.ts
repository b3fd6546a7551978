import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { quantile } from "../table.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import { createPlainClient, type PlainClient } from "./plain-client.ts";
import type { Verdict } from "./verdict.ts";

/** How much is made; the two take turns, so that both meet the machine in the same moods. */
export interface CreationSizes {
  readonly rounds: number;
  /** Environments at the start of a round that don't count: a process is never again as slow as it is then. */
  readonly warmUp: number;
  /** Environments a round, one after the other. */
  readonly single: number;
  /** Environments a round, all at once. */
  readonly many: number;
}

/** As many are under way at a time as the operator has workers. */
const AT_ONCE = 32;
const DEADLINE_MS = 120_000;

interface Samples {
  readonly chainMs: number[];
  readonly perSecond: number[];
}

/** The way of one environment, and how many a second: the operator's beside the plain client's. */
export async function measureCreations(bench: BenchWorld, sizes: CreationSizes): Promise<Verdict[]> {
  const pattern = await makePattern(bench);
  const plain = await createPlainClient(bench, pattern);
  const plainly: Samples = { chainMs: [], perSecond: [] };
  const operators: Samples = { chainMs: [], perSecond: [] };
  for (let round = 0; round < sizes.rounds; round += 1) {
    await plainRound(bench, plain, { round, sizes, samples: plainly });
    await operatorRound(bench, { round, sizes, samples: operators });
    const last = `${operators.perSecond.at(-1)?.toFixed(1)} and ${plainly.perSecond.at(-1)?.toFixed(1)} a second`;
    process.stderr.write(`creations, round ${round + 1} of ${sizes.rounds}: operator and plain client ${last}\n`);
  }
  await plain.stop();
  return [chainVerdict(operators, plainly), throughputVerdict(operators, plainly)];
}

async function makePattern(bench: BenchWorld): Promise<EphemeralEnvironment> {
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  const name = "the-pattern-of-all";
  await bench.create(name);
  await bench.ready.reached(name);
  // Its status is complete when nothing is written any more.
  const pattern = await bench.world.reconcile(name);
  await operator.stop();
  return pattern;
}

interface Round {
  readonly round: number;
  readonly sizes: CreationSizes;
  readonly samples: Samples;
}

/** While no operator runs: it would do the same work. */
async function plainRound(bench: BenchWorld, plain: PlainClient, { round, sizes, samples }: Round): Promise<void> {
  const make = async (name: string) => {
    const began = performance.now();
    await plain.bringUp(await bench.create(name));
    return performance.now() - began;
  };
  await bench.untilQuiet();
  for (const name of names(`plain-warm-${round}`, sizes.warmUp)) await make(name);
  for (const name of names(`plain-${round}`, sizes.single)) samples.chainMs.push(await make(name));
  const began = performance.now();
  await inParallel(names(`plain-many-${round}`, sizes.many), make, AT_ONCE);
  samples.perSecond.push((sizes.many * 1000) / (performance.now() - began));
}

async function operatorRound(bench: BenchWorld, { round, sizes, samples }: Round): Promise<void> {
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  await bench.untilQuiet();
  const make = async (name: string) => {
    const began = performance.now();
    await bench.create(name);
    return (await bench.ready.reached(name)) - began;
  };
  for (const name of names(`warm-${round}`, sizes.warmUp)) await make(name);
  for (const name of names(`single-${round}`, sizes.single)) samples.chainMs.push(await make(name));
  const began = performance.now();
  const many = names(`many-${round}`, sizes.many);
  await inParallel(many, (name) => bench.create(name), AT_ONCE);
  const ends = await Promise.all(many.map((name) => bench.ready.reached(name, DEADLINE_MS)));
  samples.perSecond.push((sizes.many * 1000) / (Math.max(...ends) - began));
  await operator.stop();
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function chainVerdict(operators: Samples, plainly: Samples): Verdict {
  const say = (samples: readonly number[]) =>
    `p50 ${quantile(samples, 0.5).toFixed(0)} ms, p99 ${quantile(samples, 0.99).toFixed(0)} ms`;
  return {
    what: "one environment's way to ready, at p50",
    figure: quantile(operators.chainMs, 0.5) / quantile(plainly.chainMs, 0.5),
    limit: 1.5,
    unit: "×",
    detail: `operator ${say(operators.chainMs)}; plain client, one call after the other: ${say(plainly.chainMs)}; n=${operators.chainMs.length}`,
  };
}

function throughputVerdict(operators: Samples, plainly: Samples): Verdict {
  const say = (samples: readonly number[]) => samples.map((sample) => sample.toFixed(1)).join(", ");
  return {
    what: "environments a second, 32 at a time",
    figure: quantile(operators.perSecond, 0.5) / quantile(plainly.perSecond, 0.5),
    limit: 0.8,
    isAtLeast: true,
    unit: "×",
    detail: `operator ${say(operators.perSecond)} a second; plain client ${say(plainly.perSecond)}`,
  };
}
