import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import { recordLifecycles } from "../../support/faults/fault-lifecycles.ts";
import { crashAt, isPassing } from "../../support/faults/fault-plans.ts";
import {
  type DrawnPlan,
  drawPlans,
  failures,
  meetFates,
  type Outcome,
  type RecordedLifecycle,
  summary,
} from "../../support/faults/fault-run.ts";
import { createFaultWorld, type FaultWorld, faultSeed, faultSpec } from "../../support/faults/fault-world.ts";
import { leaks, orphans } from "../../support/faults/invariants.ts";
import { until } from "../../support/fixtures/until.ts";
import { EVENTS, RECORDED } from "./recorded.ts";

/** Speed of the operator's time: plans mostly wait for its next tries. */
const PACE = 3;
/** Every seven seconds of real time: often enough for waits, seldom enough for hundreds. */
const PROBE_SECONDS = 20;
/** Half a minute of real time, as without a pace: other programs are not faster. */
const CONVERGENCE_MS = PACE * 30_000;
const QUIET_MS = 60_000;
const QUIET_PACE = 5;

let world: FaultWorld;
let lifecycles: readonly RecordedLifecycle[];
let plans: readonly DrawnPlan[];
let outcomes: readonly Outcome[];

beforeAll(async () => {
  world = await createFaultWorld({ pace: PACE, probeSeconds: PROBE_SECONDS, convergenceMs: CONVERGENCE_MS });
  await world.nextLife();
  lifecycles = await recordLifecycles(world);
  plans = drawPlans(lifecycles, world);
  outcomes = await meetFates(
    world,
    plans.map(({ lifecycle, plan }, index) => ({ lifecycle, plan, name: `plan-${index}` })),
  );
  console.log(`FAULT_SEED=${faultSeed}: ${summary(outcomes)}`);
}, 1_800_000);
afterAll(() => world.stop(), 60_000);

const found = (name: string) => world.observer.environment(name);
const isSecret = (title: string) => title.startsWith("store/") || title.startsWith("Secret/");

describe("every write meets every fault", () => {
  test("the writes of every part of life are the known ones, and each was given plans", () => {
    // A new write meets no fault before it is recorded there.
    const sure = (targets: readonly string[]) => targets.filter((target) => !isPassing(target));
    const written = lifecycles.map(({ name, targets }) => [name, sure(targets)]);
    const known = Object.entries(RECORDED).map(([name, targets]) => [name, sure(targets)]);
    expect(Object.fromEntries(written)).toEqual(Object.fromEntries(known));
  });

  test("the Events of every part of life are the known ones", () => {
    // The start of an update within one reconcile is never seen.
    const made = lifecycles.map(({ name, events }) => [name, events.filter((reason) => reason !== "UpdateStarted")]);
    expect(Object.fromEntries(made)).toEqual(EVENTS);
  });

  test("every plan happened, and every environment ended as one without faults", () => {
    expect(failures(outcomes)).toEqual([]);
    expect(outcomes).toHaveLength(plans.length);
  });

  test("nothing that must never happen was seen meanwhile", async () => {
    expect(await world.observer.violations()).toEqual([]);
    expect(await orphans(world.world.admin)).toEqual([]);
  });

  test("at rest, nothing is written", async () => {
    const written = world.observer.noteChanges();
    const { clock } = world;
    const untilMs = clock.monotonicMs() + QUIET_MS;
    clock.pace(QUIET_PACE);
    await until(() => clock.monotonicMs() > untilMs, { what: "the quiet", deadlineMs: QUIET_MS });
    clock.pace(PACE);
    expect(written()).toEqual([]);
  }, 150_000);

  test("every environment that was deleted left one record of its end", async () => {
    const gone = plans.flatMap(({ lifecycle }, index) => (lifecycle.name === "delete" ? [`plan-${index}`] : []));
    const { items } = await world.world.admin.list(recordType);
    const ofPlans = items.filter(({ spec }) => gone.includes(spec.name));
    const reported = ofPlans.map(({ spec: { name, reason, phase } }) => ({ name, reason, phase }));
    const expected = gone.map((name) => ({ name, reason: "deleted", phase: "ready" }));
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
    expect(reported.sort(byName)).toEqual(expected.sort(byName));
  });

  test("a crash at any write of a creation, and a deletion before the next process starts: nothing is left", async () => {
    const { field, observer } = world;
    const targets = RECORDED.create.filter(
      (target) => !isPassing(target) && !/^call |EphemeralEnvironment NAME$/.test(target),
    );
    const crashes = targets.flatMap((target) => [crashAt(target, "before"), crashAt(target, "after")]);
    const names = crashes.map((_, index) => `unmade-${index}`);
    for (const [index, name] of names.entries()) field.arm(name, crashes[index]);
    // Without the process, which may die before it answers: its client would repeat the creation of a deleted one.
    const made = await Promise.all(names.map((name) => world.world.create(name, faultSpec(name))));
    const areDead = () => names.every((name) => field.of(name).isDead);
    await until(areDead, { what: "every crash", deadlineMs: 60_000 });
    for (const environment of made) observer.mayGo(environment);
    await Promise.all(made.map(world.world.delete));
    await world.nextLife();
    await Promise.all(made.map(world.world.expectGone));
    expect(await orphans(world.world.admin)).toEqual([]);
  }, 300_000);

  test("nothing readable holds a secret", async () => {
    const readable = plans.flatMap((_, index) => readableOf(found(`plan-${index}`)));
    const events = JSON.stringify(await world.world.admin.list(eventKind));
    // Not of each: Events are best effort, and a fault may lose one.
    expect(events).toMatch(/"plan-\d+[.]/);
    expect(leaks(world.observer.secretValues, [world.log(), events, ...readable])).toEqual([]);
  });
});

function readableOf(environment: EphemeralEnvironment | undefined): string[] {
  if (environment === undefined) return [];
  const objects = [...world.observer.inventory(environment)].filter(([title]) => !isSecret(title));
  return [JSON.stringify(objects)];
}
