import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type FaultPlan, plansFor } from "../../support/faults/fault-plans.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { orphans } from "../../support/faults/invariants.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { until } from "../../support/fixtures/until.ts";

const PACE = 3;
const HOLD = "example.test/hold";
/**
 * Long enough for reads of the deployer by two processes, and for a finalizer to be reported by one and removed by the next.
 */
const BOUNDS = { chartSeconds: 4, finalizerSeconds: 4 };

let world: FaultWorld;
let nextLife: () => Promise<void>;
beforeAll(async () => {
  world = await createFaultWorld({ pace: PACE });
  const { settings } = world;
  const bounded = { ...settings, deletion: { ...settings.deletion, ...BOUNDS } };
  nextLife = () => world.nextLife({ settings: bounded });
  await nextLife();
}, 300_000);
afterAll(() => world.stop(), 60_000);

/** A ready environment that its deployer never deletes, with a ConfigMap blocked by a foreign finalizer. */
async function held(name: string): Promise<EphemeralEnvironment> {
  const { admin, argocd, expectPhase } = world.world;
  world.field.arm(name);
  await world.create(name);
  const ready = await expectPhase(name, "ready");
  argocd.decide(name, () => "undeletable");
  await admin.create(configMaps, { metadata: { name: "held", namespace: `env-${name}`, finalizers: [HOLD] } });
  return ready;
}

/** Ends them under their plans, with another process for those whose own died. */
async function deleted(environments: readonly EphemeralEnvironment[], plans: readonly FaultPlan[]): Promise<void> {
  const { field, observer } = world;
  const nameOf = ({ metadata }: EphemeralEnvironment) => metadata.name;
  for (const [index, environment] of environments.entries()) {
    field.arm(nameOf(environment), plans[index]);
    observer.mayGo(environment);
    await world.world.delete(environment);
  }
  const isOver = (name: string) => observer.environment(name) === undefined || field.of(name).isDead;
  await until(() => environments.every((one) => isOver(nameOf(one))), { what: "every fault", deadlineMs: 180_000 });
  await nextLife();
  await Promise.all(environments.map(world.world.expectGone));
}

test("a deletion that is taken over meets every fault at each of its writes: it ends, and its record misses no removal", async () => {
  const reference = await held("held-reference");
  await deleted([reference], []);
  const { writes, calls } = world.field.of("held-reference");
  const own = (title: string) => /RoleBinding|patch Application|patch Namespace|ConfigMap|abandon/.test(title);
  const targets = [...new Set([...writes, ...calls])].filter(own);
  expect(targets).toEqual([
    "patch RoleBinding ephemeral-environment",
    "patch Application env-NAME",
    "patch Namespace env-NAME",
    "patch ConfigMap held",
    "call deployer.abandon",
  ]);
  const plans = plansFor("taken over", targets, { admin: world.world.admin, clock: world.clock });
  const environments = await Promise.all(plans.map((_, index) => held(`held-${index}`)));
  await deleted(environments, plans);

  const struck = plans.map(({ title }, index) => [title, world.field.of(`held-${index}`).struck > 0]);
  expect(struck.filter(([, isStruck]) => !isStruck)).toEqual([]);
  const { items } = await world.world.admin.list(recordType);
  const records = environments.map(({ metadata }) => items.filter(({ spec }) => spec.uid === metadata.uid));
  const complete = {
    takenOver: expect.stringContaining("not deleted by the deployer"),
    removals: [{ kind: "ConfigMap", finalizer: HOLD, names: ["held"], objects: 1 }],
  };
  expect(records.map(([record]) => record?.spec)).toMatchObject(environments.map(() => complete));
  expect(records.every((list) => list.length === 1)).toBe(true);
  expect(await world.observer.violations()).toEqual([]);
  expect(await orphans(world.world.admin)).toEqual([]);
}, 600_000);
