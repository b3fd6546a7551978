import { type Part, record } from "../fault-lifecycles.ts";
import { type DrawnPlan, drawPlans, meetFates, type Outcome, type RecordedLifecycle, summary } from "../fault-run.ts";
import { type FaultWorld, faultSeed } from "../fault-world.ts";
import { environmentOf } from "./audience.ts";

interface Choice {
  readonly prefix: string;
  /** The writes and calls of a part that are to fail. */
  readonly isTarget: (target: string, part: string) => boolean;
  readonly isSelected?: (drawn: DrawnPlan) => boolean;
}

/** The results of the plans of some parts of life. */
export interface PartsMet {
  /** Chosen writes and calls of the run without faults, by part. */
  readonly targets: Readonly<Record<string, readonly string[]>>;
  /** Names of the environments, one for each plan. */
  readonly names: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/** Runs each part without faults, then once for each drawn plan, and prints the results. */
export async function meetParts(
  world: FaultWorld,
  parts: readonly Part[],
  { prefix, isTarget, isSelected = () => true }: Choice,
): Promise<PartsMet> {
  const recorded = parts.map((part, at) => record(world, part, environmentOf(`without-fault-${at}`)));
  const lifecycles = await Promise.all(recorded);
  const plans = drawPlans(lifecycles, world, isTarget).filter(isSelected);
  const fates = plans.map((plan, index) => ({ ...plan, name: environmentOf(`${prefix}-${index}`) }));
  const outcomes = await meetFates(world, fates);
  console.log(`FAULT_SEED=${faultSeed}: ${summary(outcomes)}`);
  const chosen = ({ name, targets }: RecordedLifecycle) => targets.filter((target) => isTarget(target, name));
  const targets = Object.fromEntries(lifecycles.map((one) => [one.name, chosen(one)]));
  return { targets, names: fates.map(({ name }) => name), outcomes };
}
