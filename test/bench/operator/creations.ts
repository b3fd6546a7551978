import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { alternate } from "./alternation.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import type { CreationSizes, Samples } from "./creation-samples.ts";
import { type MeasuredOperator, writesOf } from "./measured-operator.ts";
import { eventsVerdict, wayVerdict } from "./observability.ts";
import { createPlainClient, type PlainClient } from "./plain-client.ts";

/** Creations at a time, as many as the operator has workers. */
const AT_ONCE = 32;
const DEADLINE_MS = 120_000;
/** The operator's probes of earlier environments are no part of a creation. */
const SELDOM_SECONDS = 3_600;

/** Sides that create: the operator, and a plain client in its place. */
const SIDES = ["operator", "plain"] as const;
type Side = (typeof SIDES)[number];

/** Maker of ready environments. */
interface Maker {
  /** Creates an environment; resolves when it is ready. */
  make(name: string): Promise<unknown>;
  /** Waits until all work but future environments is done. */
  settle(): Promise<unknown>;
  /** Writes since the start, where they are counted. */
  writes?(): Promise<ReturnType<typeof writesOf>>;
}

const none = (): Samples => ({ chainMs: [], manyMs: [], eventParts: [], cpuMs: [] });

/**
 * The duration of one environment, and the rate, beside the plain client's; what metrics and Events cost of the duration; and
 * the writes of Events during a burst.
 *
 * A shared machine's speed varies by half from second to second, so turns are short and many, and each side is first in every
 * other round.
 */
export async function measureCreations(bench: BenchWorld, sizes: CreationSizes): Promise<Verdict[]> {
  const operator = bench.startOperator({ probeSeconds: SELDOM_SECONDS });
  await operator.converged(DEADLINE_MS);
  const plain = await createPlainClient(bench, await makePattern(bench));
  // Otherwise it would do the same work during the plain client's turns.
  operator.freeze();
  const samples: Readonly<Record<Side, Samples>> = { operator: none(), plain: none() };
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const taken = { side, round, sizes, samples: samples[side] };
      if (side === "plain") await turn(bench, plainMaker(bench, plain), taken);
      else await operatorTurn(bench, operator, taken);
    }
    const rates = SIDES.map((side) => `${side} ${perSecond(samples[side].manyMs.slice(-1), sizes).toFixed(1)}`);
    const line = `creations, round ${round + 1} of ${sizes.rounds}: ${rates.join(", ")} environments a second\n`;
    process.stderr.write(line);
  }
  await plain.stop();
  operator.thaw();
  const alternation = await alternate(bench, operator, sizes.blocks);
  await operator.stop();
  return [
    chainVerdict(samples.operator, samples.plain),
    throughputVerdict(samples.operator, samples.plain, sizes),
    wayVerdict(alternation),
    eventsVerdict(samples.operator),
  ];
}

async function makePattern(bench: BenchWorld): Promise<EphemeralEnvironment> {
  const name = "the-pattern-of-all";
  await bench.create(name);
  await bench.ready.reached(name);
  // The status is complete when no write follows.
  return bench.world.reconcile(name);
}

function operatorMaker(bench: BenchWorld, operator: MeasuredOperator): Maker {
  return {
    async make(name) {
      await bench.create(name);
      await bench.ready.reached(name, DEADLINE_MS);
    },
    settle: () => operator.settled(DEADLINE_MS),
    writes: async () => writesOf(await operator.figures()),
  };
}

function plainMaker(bench: BenchWorld, plain: PlainClient): Maker {
  return {
    make: async (name) => plain.bringUp(await bench.create(name)),
    settle: async () => undefined,
  };
}

interface Turn {
  readonly side: Side;
  readonly round: number;
  readonly sizes: CreationSizes;
  readonly samples: Samples;
}

async function turn(bench: BenchWorld, maker: Maker, { side, round, sizes, samples }: Turn): Promise<void> {
  const timed = async (name: string) => {
    const began = performance.now();
    await maker.make(name);
    return performance.now() - began;
  };
  for (const name of names(`${side}-warm-${round}`, sizes.warmUp)) await maker.make(name);
  await maker.settle();
  await bench.untilQuiet();
  for (const name of names(`${side}-${round}`, sizes.single)) samples.chainMs.push(await timed(name));
  const before = await maker.writes?.();
  const began = performance.now();
  await inParallel(names(`${side}-many-${round}`, sizes.many), maker.make, AT_ONCE);
  samples.manyMs.push(performance.now() - began);
  const after = await maker.writes?.();
  if (before && after) samples.eventParts.push((after.events - before.events) / (after.others - before.others));
  await maker.settle();
}

async function operatorTurn(bench: BenchWorld, operator: MeasuredOperator, taken: Turn): Promise<void> {
  operator.thaw();
  const maker = operatorMaker(bench, operator);
  // The plain client's environments are none of this turn's work; their watch events come before those of a new one.
  await maker.make(`first-${taken.round}`);
  await maker.settle();
  const before = await operator.figures();
  await turn(bench, maker, taken);
  const { cpuSeconds } = await operator.figures();
  const { warmUp, single, many } = taken.sizes;
  taken.samples.cpuMs.push(((cpuSeconds - before.cpuSeconds) * 1000) / (warmUp + single + many));
  operator.freeze();
}

function names(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

function chainVerdict(operators: Samples, plainly: Samples): Verdict {
  const say = (samples: readonly number[]) =>
    `p50 ${median(samples).toFixed(0)} ms, p99 ${quantile(samples, 0.99).toFixed(0)} ms`;
  return {
    what: "one environment's way to ready, at p50",
    figure: median(operators.chainMs) / median(plainly.chainMs),
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
    detail: `operator ${say(operators)}, ${median(operators.cpuMs).toFixed(1)} ms of processor time each; plain client ${say(plainly)}; ${operators.manyMs.length} turns of ${sizes.many} each`,
  };
}

function perSecond(manyMs: readonly number[], { many }: CreationSizes): number {
  return (many * manyMs.length * 1000) / manyMs.reduce((sum, one) => sum + one, 0);
}
