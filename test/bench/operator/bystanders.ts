import { RECONCILE_ANNOTATION } from "../../../crds/group.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { WireObject } from "../../../operator/kit/client/kinds.ts";
import { resourceType } from "../../../operator/kit/client/objects.ts";
import { pause, systemClock } from "../../../operator/kit/time/clock.ts";
import { until } from "../../support/fixtures/until.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import { POISONOUS, SLOW, STUCK } from "./names.ts";

export interface BystanderSizes {
  /** Pairs of a calm and a troubled time. */
  readonly rounds: number;
  /** Environments created in each. */
  readonly each: number;
  /** Environments that wait for the secret manager: more than the operator's workers. */
  readonly slow: number;
}

const AT_ONCE = 4;
const DEADLINE_MS = 120_000;
/** The pause before the next touch of the poisonous environment; every touch requests a reconcile. */
const TOUCH_AGAIN_MS = 50;

const configMapKind = resourceType<WireObject>({
  group: "",
  version: "v1",
  kind: "ConfigMap",
  plural: "configmaps",
  namespaced: true,
});

/** Time until other environments are ready while some are broken, beside calm times of the same run. */
export async function measureBystanders(bench: BenchWorld, sizes: BystanderSizes): Promise<Verdict> {
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  const calmMs: number[] = [];
  const troubledMs: number[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) {
    const calm = async () => void calmMs.push(...(await waysToReady(bench, `calm-${round}`, sizes.each)));
    const troubled = async () => {
      const end = await makeTrouble(bench, round, sizes.slow);
      troubledMs.push(...(await waysToReady(bench, `troubled-${round}`, sizes.each)));
      await end();
    };
    // Both orders alternate, because the number of environments grows.
    for (const time of round % 2 === 0 ? [calm, troubled] : [troubled, calm]) {
      await bench.untilQuiet();
      await time();
    }
    process.stderr.write(`bystanders, round ${round + 1} of ${sizes.rounds}\n`);
  }
  await operator.stop();
  const say = (samples: readonly number[]) =>
    `p50 ${median(samples).toFixed(0)} ms, p99 ${quantile(samples, 0.99).toFixed(0)} ms`;
  return {
    what: "bystanders of broken environments, at p99",
    figure: quantile(troubledMs, 0.99) / quantile(calmMs, 0.99),
    limit: 1.75,
    unit: "×",
    detail: `calm ${say(calmMs)}; beside broken ones ${say(troubledMs)}; n=${calmMs.length} each`,
  };
}

function waysToReady(bench: BenchWorld, prefix: string, count: number): Promise<number[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  const make = async (name: string) => {
    const began = performance.now();
    await bench.create(name);
    return (await bench.ready.reached(name)) - began;
  };
  return inParallel(names, make, AT_ONCE);
}

/**
 * Meanwhile one environment fails every reconcile, some wait 10 s for each failing call of the secret manager, and one
 * namespace is not deleted. Answers a function that ends it, and that fails when the trouble was over before.
 */
async function makeTrouble(bench: BenchWorld, round: number, slowOnes: number): Promise<() => Promise<void>> {
  const { admin } = bench.world;
  const stuck = `${STUCK}${round}`;
  const held = { name: "held", namespace: `env-${stuck}` };
  const made = await bench.create(stuck);
  await bench.ready.reached(stuck);
  await admin.create(configMapKind, { metadata: { ...held, finalizers: ["bench.test/never"] } } as never);
  await bench.world.delete(made);
  const poisonous = `${POISONOUS}${round}`;
  await bench.create(poisonous);
  const slow = Array.from({ length: slowOnes }, (_, index) => `${SLOW}${round}-${index}`);
  const slowly = await inParallel(slow, (name) => bench.create(name), AT_ONCE);
  // Creating slow environments is normal work: they disturb only after the first failed call.
  await untilAll(bench, slow, (phase) => phase !== undefined);
  const ended = new AbortController();
  const touching = touch(bench, poisonous, ended.signal);
  return async () => {
    ended.abort();
    await touching;
    const phases = await phasesOf(bench, [stuck, ...slow]);
    if (phases[0] !== "terminating" || phases.includes("ready")) throw new Error("the trouble was over too soon");
    await admin.patch(configMapKind, held, { metadata: { finalizers: null } }, { as: "merge" });
    for (const one of slowly) await bench.world.delete(one);
    await untilAll(bench, [stuck, ...slow], (phase) => phase === undefined);
  };
}

async function phasesOf({ world }: BenchWorld, names: readonly string[]): Promise<readonly (string | undefined)[]> {
  const { items } = await world.admin.list(environmentType);
  const phases = new Map(items.map(({ metadata, status }) => [metadata.name, status?.phase]));
  return names.map((name) => phases.get(name));
}

async function untilAll(
  bench: BenchWorld,
  names: readonly string[],
  isSo: (phase: string | undefined) => boolean,
): Promise<void> {
  const look = async () => (await phasesOf(bench, names)).every(isSo);
  await until(look, { what: "the broken environments having come so far", deadlineMs: DEADLINE_MS, everyMs: 500 });
}

async function touch({ world }: BenchWorld, name: string, ended: AbortSignal): Promise<void> {
  while (!ended.aborted) {
    const patch = { metadata: { annotations: { [RECONCILE_ANNOTATION]: String(performance.now()) } } };
    // A single failed touch among so many does not matter.
    await world.admin.patch(environmentType, { name }, patch, { as: "merge" }).catch(() => undefined);
    await pause(systemClock, TOUCH_AGAIN_MS, ended);
  }
}
