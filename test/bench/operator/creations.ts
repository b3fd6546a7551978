import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { until } from "../../support/fixtures/until.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import { type CreationSizes, madeIn, type Samples } from "./creation-samples.ts";
import type { Figures, MeasuredOperator } from "./measured-operator.ts";
import { observabilityVerdicts } from "./observability.ts";
import { createPlainClient, type PlainClient } from "./plain-client.ts";

/** Creations at a time, as many as the operator has workers. */
const AT_ONCE = 32;
const DEADLINE_MS = 120_000;
/** The operator's probes of earlier environments are no part of a creation. */
const SELDOM_SECONDS = 3_600;

/** Sides that create: the operator with metrics and Events, the same process without them, and a plain client in its place. */
const SIDES = ["observed", "unobserved", "plain"] as const;
type Side = (typeof SIDES)[number];
/** Each side follows each other one equally often. */
const ORDERS: readonly (readonly Side[])[] = [
  ["observed", "unobserved", "plain"],
  ["plain", "unobserved", "observed"],
  ["unobserved", "plain", "observed"],
  ["observed", "plain", "unobserved"],
  ["plain", "observed", "unobserved"],
  ["unobserved", "observed", "plain"],
];

/** Maker of ready environments. */
interface Maker {
  /** Creates an environment; resolves when it is ready. */
  make(name: string): Promise<unknown>;
  /** Waits until all work but future environments is done. */
  settle(): Promise<unknown>;
}

const none = (): Samples => ({ chainMs: [], manyMs: [], cpuSeconds: [] });

/**
 * The duration of one environment, and the rate: the operator's beside the plain client's, and with metrics and Events beside
 * without. One process switches both: two equal ones differ by more than what they cost.
 *
 * A shared machine's speed varies by half from second to second, so turns are short and many, and all orders of the sides take turns.
 */
export async function measureCreations(bench: BenchWorld, sizes: CreationSizes): Promise<Verdict[]> {
  const operator = bench.startOperator({ probeSeconds: SELDOM_SECONDS });
  await operator.converged(DEADLINE_MS);
  const plain = await createPlainClient(bench, await makePattern(bench));
  // Otherwise it would do the same work during the plain client's turns.
  operator.freeze();
  const samples: Readonly<Record<Side, Samples>> = { observed: none(), unobserved: none(), plain: none() };
  for (let round = 0; round < sizes.rounds; round += 1) {
    for (const side of ORDERS[round % ORDERS.length] ?? SIDES) {
      const taken = { side, round, sizes, samples: samples[side] };
      if (side === "plain") await turn(bench, plainMaker(bench, plain), taken);
      else await operatorTurn(bench, operator, taken);
    }
    const rates = SIDES.map((side) => `${side} ${perSecond(samples[side].manyMs.slice(-1), sizes).toFixed(1)}`).join(
      ", ",
    );
    process.stderr.write(`creations, round ${round + 1} of ${sizes.rounds}: ${rates} environments a second\n`);
  }
  await plain.stop();
  await operator.stop();
  return [
    chainVerdict(samples.observed, samples.plain),
    throughputVerdict(samples.observed, samples.plain, sizes),
    ...observabilityVerdicts(samples.observed, samples.unobserved, sizes),
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
  const began = performance.now();
  await inParallel(names(`${side}-many-${round}`, sizes.many), maker.make, AT_ONCE);
  samples.manyMs.push(performance.now() - began);
  await maker.settle();
}

/**
 * Takes a turn of the operator until its last Event is written. During creations few are written (ADR 269): only the CPU time
 * includes them.
 */
async function operatorTurn(bench: BenchWorld, operator: MeasuredOperator, taken: Turn): Promise<void> {
  const { side, sizes, samples } = taken;
  operator.thaw();
  await operator.observe(side === "observed");
  const thawed = await operator.figures();
  const maker = operatorMaker(bench, operator);
  // The plain client's environments are none of this turn's work; their watch events come before those of a new one.
  await maker.make(`${side}-first-${taken.round}`);
  await maker.settle();
  const before = await operator.figures();
  await turn(bench, maker, taken);
  // Each creation has two Events.
  const expected = eventsOf(thawed) + (side === "observed" ? 2 * (madeIn(sizes) + 1) : 0);
  const whenReported = async () => {
    const now = await operator.figures();
    return eventsOf(now) >= expected ? now : undefined;
  };
  const reported = await until(whenReported, { what: "every Event", deadlineMs: DEADLINE_MS, everyMs: 250 });
  samples.cpuSeconds.push(reported.cpuSeconds - before.cpuSeconds);
  operator.freeze();
}

const eventsOf = ({ writes }: Figures) => writes["create Event"] ?? 0;

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
    detail: `operator ${say(operators)}; plain client ${say(plainly)}; ${operators.manyMs.length} turns of ${sizes.many} each`,
  };
}

function perSecond(manyMs: readonly number[], { many }: CreationSizes): number {
  return (many * manyMs.length * 1000) / manyMs.reduce((sum, one) => sum + one, 0);
}
