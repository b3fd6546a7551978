import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { HOUR_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { plansFor } from "../../support/faults/fault-plans.ts";
import { createFaultWorld, type FaultWorld, faultSpec } from "../../support/faults/fault-world.ts";
import { orphans } from "../../support/faults/invariants.ts";
import { clockAhead, serverClockAhead } from "../../support/faults/skewed-clock.ts";
import { until } from "../../support/fixtures/until.ts";

const LIFT = "patch EphemeralEnvironment NAME, a change of the spec";
const DELETE = "delete EphemeralEnvironment NAME";

const REFUSED = "403 three times";
const PACE = 3;

let world: FaultWorld;
beforeAll(async () => {
  world = await createFaultWorld({ pace: PACE });
  await world.nextLife();
}, 300_000);
afterAll(() => world.stop(), 60_000);

/** A ready environment that expires after one hour, and is protected for five. */
async function shielded(name: string): Promise<EphemeralEnvironment> {
  const { admin, expectPhase, expectState } = world.world;
  world.field.arm(name);
  const { metadata } = await world.create(name, { ...faultSpec(name), ttlHours: 1 });
  await expectPhase(name, "ready");
  const protectedUntil = new Date(Date.parse(metadata.creationTimestamp) + 5 * HOUR_MS).toISOString();
  await admin.patch(environmentType, { name }, { spec: { protectedUntil } }, { as: "merge" });
  return expectState(name, "showing its protection", ({ status }) => status?.protectedUntil === protectedUntil);
}

const laterLife = () => world.nextLife({ clock: clockAhead(6, world.clock), serverClock: serverClockAhead(6) });

test("the removal of a protection that has ended meets every fault: the environment goes, with the time it was due", async () => {
  const { field, observer, clock } = world;
  const { admin, expectGone } = world.world;
  const ofBoth = plansFor("ended protection", [LIFT, DELETE], { admin, clock });
  // Of the deletion, those that leave the environment between the two writes.
  const plans = ofBoth.filter(
    ({ target, fault }) => target === LIFT || fault.kills === "before" || fault.name === REFUSED,
  );
  const names = ["ended-reference", ...plans.map((_, index) => `ended-${index}`)];
  const environments = await Promise.all(names.map(shielded));
  for (const [index, environment] of environments.entries()) {
    field.arm(environment.metadata.name, index === 0 ? undefined : plans[index - 1]);
    observer.mayGo(environment);
  }
  await laterLife();
  const isOver = (name: string) => observer.environment(name) === undefined || field.of(name).isDead;
  await until(() => names.every(isOver), { what: "every fault", deadlineMs: 180_000 });
  await laterLife();
  await Promise.all(environments.map(expectGone));

  expect(field.of("ended-reference").writes).toEqual(expect.arrayContaining([LIFT, DELETE]));
  const struck = plans.map(({ title }, index) => [title, field.of(`ended-${index}`).struck > 0]);
  expect(struck.filter(([, isStruck]) => !isStruck)).toEqual([]);
  const { items } = await admin.list(recordType);
  const due = environments.map(({ metadata }) => items.filter(({ spec }) => spec.uid === metadata.uid));
  expect(due.map((records) => records.map(({ spec }) => spec.dueAt))).toEqual(
    environments.map(({ spec }) => [spec.protectedUntil]),
  );
  expect(await observer.violations()).toEqual([]);
  expect(await orphans(admin)).toEqual([]);
}, 600_000);
