import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import type { MeasuredOperator } from "./measured-operator.ts";
import { createPlainClient, type PlainClient } from "./plain-client.ts";

/** Numbers of environments. */
export interface CreationSizes {
  /** Rounds, each with a turn of both. */
  readonly rounds: number;
  /** Uncounted environments at the start of a turn: an idle process is slow at first. */
  readonly warmUp: number;
  readonly single: number;
  readonly many: number;
}

/** Creations at a time, as many as the operator has workers. */
const AT_ONCE = 32;
export const DEADLINE_MS = 120_000;
/** The operator's probes of earlier environments are no part of a creation. */
export const SELDOM_SECONDS = 3_600;

/** The operator, or a plain client in its place. */
export interface Maker {
  readonly name: string;
  /** Creates an environment; resolves when it is ready. */
  make(name: string): Promise<unknown>;
  /** Waits until all work but future environments is done. */
  settle(): Promise<unknown>;
}

export interface Samples {
  readonly chainMs: number[];
  /** Duration of each turn's many. */
  readonly manyMs: number[];
}

/**
 * The duration of one environment, and the rate: the operator's beside the plain client's.
 *
 * A shared machine's speed varies by half from second to second, so turns are short and many, and the first alternates.
 */
export async function measureCreations(bench: BenchWorld, sizes: CreationSizes): Promise<Verdict[]> {
  const operator = bench.startOperator({ probeSeconds: SELDOM_SECONDS });
  await operator.converged(DEADLINE_MS);
  const plain = await createPlainClient(bench, await makePattern(bench));
  operator.freeze();
  const operators: Samples = { chainMs: [], manyMs: [] };
  const plainly: Samples = { chainMs: [], manyMs: [] };
  for (let round = 0; round < sizes.rounds; round += 1) {
    const turns = [
      async () => {
        operator.thaw();
        await turn(bench, operatorMaker(bench, operator), { round, sizes, samples: operators });
        // Otherwise it would do the same work during the other's turn.
        operator.freeze();
      },
      () => turn(bench, plainMaker(bench, plain), { round, sizes, samples: plainly }),
    ];
    for (const take of round % 2 === 0 ? turns : turns.reverse()) await take();
    const [made, madePlainly] = [operators, plainly].map(({ manyMs }) => perSecond(manyMs.slice(-1), sizes).toFixed(1));
    const rates = `operator ${made}, plain client ${madePlainly} environments a second`;
    process.stderr.write(`creations, round ${round + 1} of ${sizes.rounds}: ${rates}\n`);
  }
  await plain.stop();
  await operator.stop();
  return [chainVerdict(operators, plainly), throughputVerdict(operators, plainly, sizes)];
}

async function makePattern(bench: BenchWorld): Promise<EphemeralEnvironment> {
  const name = "the-pattern-of-all";
  await bench.create(name);
  await bench.ready.reached(name);
  // The status is complete when no write follows.
  return bench.world.reconcile(name);
}

export function operatorMaker(bench: BenchWorld, operator: MeasuredOperator): Maker {
  return {
    name: "operator",
    async make(name) {
      await bench.create(name);
      await bench.ready.reached(name, DEADLINE_MS);
    },
    settle: () => operator.settled(DEADLINE_MS),
  };
}

function plainMaker(bench: BenchWorld, plain: PlainClient): Maker {
  return {
    name: "plain",
    make: async (name) => plain.bringUp(await bench.create(name)),
    settle: async () => undefined,
  };
}

interface Turn {
  readonly round: number;
  readonly sizes: CreationSizes;
  readonly samples: Samples;
}

export async function turn(bench: BenchWorld, maker: Maker, { round, sizes, samples }: Turn): Promise<void> {
  const timed = async (name: string) => {
    const began = performance.now();
    await maker.make(name);
    return performance.now() - began;
  };
  for (const name of names(`${maker.name}-warm-${round}`, sizes.warmUp)) await maker.make(name);
  await maker.settle();
  await bench.untilQuiet();
  for (const name of names(`${maker.name}-${round}`, sizes.single)) samples.chainMs.push(await timed(name));
  const began = performance.now();
  await inParallel(names(`${maker.name}-many-${round}`, sizes.many), maker.make, AT_ONCE);
  samples.manyMs.push(performance.now() - began);
  await maker.settle();
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
    limit: 1.2,
    unit: "×",
    detail: `operator ${say(operators.chainMs)}; plain client, one call after the other: ${say(plainly.chainMs)}; n=${operators.chainMs.length}`,
  };
}

function throughputVerdict(operators: Samples, plainly: Samples, sizes: CreationSizes): Verdict {
  const say = ({ manyMs }: Samples) => {
    const [low, high] = [Math.max(...manyMs), Math.min(...manyMs)].map((ms) => perSecond([ms], sizes).toFixed(1));
    return `${perSecond(manyMs, sizes).toFixed(1)} a second (${low} to ${high})`;
  };
  return {
    what: "environments a second, 32 at a time",
    figure: perSecond(operators.manyMs, sizes) / perSecond(plainly.manyMs, sizes),
    limit: 0.65,
    isAtLeast: true,
    unit: "×",
    detail: `operator ${say(operators)}; plain client ${say(plainly)}; ${operators.manyMs.length} turns of ${sizes.many} each`,
  };
}

function perSecond(manyMs: readonly number[], { many }: CreationSizes): number {
  return (many * manyMs.length * 1000) / manyMs.reduce((sum, one) => sum + one, 0);
}
