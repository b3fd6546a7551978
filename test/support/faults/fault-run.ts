import pLimit from "p-limit";
import { until } from "../fixtures/until.ts";
import { type FaultPlan, isPassing, plansFor } from "./fault-plans.ts";
import { type FaultWorld, faultSeed } from "./fault-world.ts";
import { tooManyWrites } from "./invariants.ts";
import { seededRandom, shuffled } from "./seeded-random.ts";
import type { Observer, Violation } from "./world-observer.ts";

export interface Lifecycle {
  readonly name: string;
  /** Brings a new environment to the beginning of the part. */
  readonly given: (name: string) => Promise<unknown>;
  readonly act: (name: string) => Promise<unknown>;
  /** Differences from the end state; empty at the end. */
  readonly missing: (name: string) => readonly Violation[];
  /** Normalised objects that a run without faults replaces. */
  readonly replaced: readonly string[];
  /** Maximum writes without faults, counted by `lastingWrites`. */
  readonly writes: number;
  /** True when the environment is gone at the end. */
  readonly leaves: boolean;
}

/** A lifecycle with the normalised writes and calls of its run without faults. */
export interface RecordedLifecycle extends Lifecycle {
  readonly targets: readonly string[];
  readonly events: readonly string[];
}

export type DrawnPlan = Pick<Fate, "lifecycle" | "plan">;

/** A part of titles that selects plans. */
const only = process.env.PLAN ?? "";
/** One in `share` plans is run. */
const share = Number(process.env.FAULT_SHARE ?? 1);

/** The selected share of the targets' plans, in the order of the seed. */
export function drawPlans(
  lifecycles: readonly RecordedLifecycle[],
  { world: { admin }, clock }: FaultWorld,
  isSelected: (target: string, lifecycle: string) => boolean = () => true,
): readonly DrawnPlan[] {
  const all = lifecycles.flatMap((lifecycle) => {
    const targets = lifecycle.targets.filter((target) => isSelected(target, lifecycle.name));
    return plansFor(lifecycle.name, targets, { admin, clock }).map((plan) => ({ lifecycle, plan }));
  });
  const named = all.filter(({ plan }) => plan.title.includes(only));
  return shuffled(named, seededRandom(faultSeed)).filter((_, index) => index % share === 0);
}

export interface Fate {
  readonly name: string;
  readonly lifecycle: Lifecycle;
  readonly plan: FaultPlan;
}

export interface Outcome extends Fate {
  readonly violations: readonly Violation[];
  /** Time from the fault's end to the desired state, on the operator's clock. */
  readonly convergedInMs: number;
  readonly writes: number;
}

/**
 * Concurrent plans by the resource that they wait for. More would wait for each other, for the common rate of retries or the
 * namespace controller, and count as slow.
 */
const LIMITS = { patient: 50, others: 16, leaving: 10 } as const;
type Limit = keyof typeof LIMITS;
/** The longest fault strikes ten times in a row, with a growing pause after each. */
const LONGEST_FAULT_MS = 240_000;
const LOOK_EVERY_MS = 25;

/**
 * Runs every plan, many at a time, and judges each. Environments with a dead process wait for all others: then the next
 * process takes over, and they are judged.
 */
export async function meetFates(world: FaultWorld, fates: readonly Fate[]): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const { field } = world;
  const settle = async (fate: Fate) => {
    const last = await rest(fate, world);
    if (!field.of(fate.name).isDead) outcomes.push(judged(fate, world, last));
  };
  const acts: Promise<unknown>[] = [];
  const meet = async (fate: Fate) => {
    field.arm(fate.name);
    await fate.lifecycle.given(fate.name);
    field.arm(fate.name, fate.plan);
    acts.push(fate.lifecycle.act(fate.name));
    await settle(fate);
  };
  const limits = atOnce();
  await Promise.all(fates.map((fate) => limits[limitOf(fate)](() => meet(fate))));
  const dead = fates.filter(({ name }) => field.of(name).isDead);
  if (dead.length > 0) await world.nextLife();
  await Promise.all(dead.map(settle));
  await Promise.all(acts);
  return outcomes;
}

/** Limits concurrent plans; those that delete also wait for a place among the others. */
function atOnce(): Record<Limit, <R>(meet: () => Promise<R>) => Promise<R>> {
  const [patient, others, leaving] = [pLimit(LIMITS.patient), pLimit(LIMITS.others), pLimit(LIMITS.leaving)];
  return { patient, others, leaving: (meet) => leaving(() => others(meet)) };
}

function limitOf({ lifecycle, plan }: Fate): Limit {
  if (plan.fault.times >= 10) return "patient";
  return lifecycle.leaves ? "leaving" : "others";
}

interface Rest {
  readonly missing: readonly Violation[];
  readonly atMs: number;
}

/** Waits until the environment has converged, lost its process, or run out of time. */
async function rest({ name, lifecycle }: Fate, { field, clock, convergenceMs }: FaultWorld): Promise<Rest> {
  const beganAtMs = clock.monotonicMs();
  const look = () => {
    const course = field.of(name);
    const missing = course.isDead ? [] : lifecycle.missing(name);
    const atMs = clock.monotonicMs();
    const deadline = course.endedAtMs === undefined ? beganAtMs + LONGEST_FAULT_MS : course.endedAtMs + convergenceMs;
    // During a fault, the state does not count.
    const isStriking = course.struck > 0 && course.endedAtMs === undefined;
    const isOver = course.isDead || (missing.length === 0 && !isStriking) || atMs > deadline;
    return isOver ? { missing, atMs } : undefined;
  };
  return until(look, { what: `the rest of '${name}'`, deadlineMs: 2 * LONGEST_FAULT_MS, everyMs: LOOK_EVERY_MS });
}

function judged(fate: Fate, { field, observer }: FaultWorld, last: Rest): Outcome {
  const { name, lifecycle } = fate;
  const course = field.of(name);
  const convergedInMs = last.atMs - (course.endedAtMs ?? last.atMs);
  const never: Violation = { invariant: "I1", environment: name, what: "what the plan waits for never happened" };
  const violations = [
    ...last.missing,
    ...(course.struck === 0 && !isPassing(fate.plan.target) ? [never] : []),
    ...tooManyWrites(name, course, { writes: lifecycle.writes, convergedInMs }),
    ...(fate.plan.fault.kills === undefined ? [] : replacedBeyond(lifecycle, observer, name)),
  ];
  return { ...fate, violations, convergedInMs, writes: course.writes.length };
}

/** Violations by replaced objects: after a crash, the next process continues with the existing ones. */
function replacedBeyond({ replaced }: Lifecycle, observer: Observer, name: string): Violation[] {
  const environment = observer.environment(name);
  const titles = environment === undefined ? [] : observer.replaced(environment);
  const more = titles.filter((title) => !replaced.includes(title.replace(name, "NAME")));
  return more.map((title) => ({ invariant: "I2", environment: name, what: `${title} was replaced by another one` }));
}

/** A line for each fault: the number of plans, the longest convergence, and the most writes. */
export function summary(outcomes: readonly Outcome[]): string {
  const byFault = Map.groupBy(outcomes, ({ plan }) => plan.fault.name);
  const lines = [...byFault].map(([fault, all]) => {
    const slowest = Math.max(...all.map(({ convergedInMs }) => convergedInMs)) / 1000;
    const most = Math.max(...all.map(({ writes }) => writes));
    const bad = all.filter(({ violations }) => violations.length > 0).length;
    return `  ${fault.padEnd(24)} ${String(all.length).padStart(3)} plans, ${bad} violated, converged in ≤ ${slowest.toFixed(1)} s, ≤ ${most} writes`;
  });
  return [`${outcomes.length} plans`, ...lines.sort()].join("\n");
}

/** Violations with their plans, in the form of `PLAN=…`. */
export function failures(outcomes: readonly Outcome[]): string[] {
  return outcomes.flatMap(({ plan, violations }) =>
    violations.map(({ invariant, what }) => `PLAN="${plan.title}": ${invariant}: ${what}`),
  );
}
