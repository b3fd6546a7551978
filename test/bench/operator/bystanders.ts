import { RECONCILE_ANNOTATION } from "../../../crds/group.ts";
import type { WireObject } from "../../../operator/kinds.ts";
import { environmentType } from "../../../operator/kinds.ts";
import { resourceType } from "../../../operator/kit/kube-object.ts";
import { quantile } from "../table.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import { POISONOUS, SLOW, STUCK } from "./names.ts";
import type { Verdict } from "./verdict.ts";

export interface BystanderSizes {
  /** Pairs of a calm and a troubled time. */
  readonly rounds: number;
  /** Environments that are made in each. */
  readonly each: number;
}

const AT_ONCE = 4;
const DEADLINE_MS = 120_000;
/** Somebody touches the poisonous one so often, and every touch asks for a pass. */
const TOUCH_EVERY_MS = 50;
const SLOW_ONES = 4;

const configMapKind = resourceType<WireObject>({
  ...{ group: "", version: "v1", kind: "ConfigMap", plural: "configmaps", namespaced: true },
});

/** How long others take to become ready while some are broken, beside calm times of the same run. */
export async function measureBystanders(bench: BenchWorld, sizes: BystanderSizes): Promise<Verdict> {
  const operator = bench.startOperator();
  await operator.converged(DEADLINE_MS);
  const calmMs: number[] = [];
  const troubledMs: number[] = [];
  for (let round = 0; round < sizes.rounds; round += 1) {
    await bench.untilQuiet();
    calmMs.push(...(await waysToReady(bench, `calm-${round}`, sizes.each)));
    const end = await makeTrouble(bench, round);
    troubledMs.push(...(await waysToReady(bench, `troubled-${round}`, sizes.each)));
    await end();
    process.stderr.write(`bystanders, round ${round + 1} of ${sizes.rounds}\n`);
  }
  await operator.stop();
  const say = (samples: readonly number[]) =>
    `p50 ${quantile(samples, 0.5).toFixed(0)} ms, p99 ${quantile(samples, 0.99).toFixed(0)} ms`;
  return {
    what: "bystanders of broken environments, at p99",
    figure: quantile(troubledMs, 0.99) / quantile(calmMs, 0.99),
    limit: 2,
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

/** One at which every pass throws, some whose secrets take 5 s a call, one whose namespace does not go; answers its end. */
async function makeTrouble(bench: BenchWorld, round: number): Promise<() => Promise<void>> {
  const { admin } = bench.world;
  const stuck = `${STUCK}${round}`;
  const held = { name: "held", namespace: `env-${stuck}` };
  const made = await bench.create(stuck);
  await bench.ready.reached(stuck);
  await admin.create(configMapKind, { metadata: { ...held, finalizers: ["bench.test/never"] } } as never);
  await bench.world.delete(made);
  const poisonous = `${POISONOUS}${round}`;
  await bench.create(poisonous);
  const slow = Array.from({ length: SLOW_ONES }, (_, index) => `${SLOW}${round}-${index}`);
  for (const name of slow) await bench.create(name);
  const touching = setInterval(() => touch(bench, poisonous), TOUCH_EVERY_MS);
  return async () => {
    clearInterval(touching);
    await admin.patch(configMapKind, held, { metadata: { finalizers: null } }, { as: "merge" });
    await bench.world.expectGone(made);
    for (const name of slow) await bench.ready.reached(name);
  };
}

function touch({ world }: BenchWorld, name: string): void {
  const patch = { metadata: { annotations: { [RECONCILE_ANNOTATION]: String(performance.now()) } } };
  // Whether one of so many touches fails tells nothing.
  world.admin.patch(environmentType, { name }, patch, { as: "merge" }).catch(() => undefined);
}
