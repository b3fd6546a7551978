import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { type WireObject, wireKind } from "../../../operator/kit/client/kinds.ts";
import type { Draft } from "../../../operator/kit/client/objects.ts";
import { type FaultPlan, plansFor } from "../../support/faults/fault-plans.ts";
import { createFaultWorld, type FaultWorld } from "../../support/faults/fault-world.ts";
import { jobObject, jobStatus } from "../../support/fixtures/environment/workload-objects.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMIT } from "../../support/worlds/environment-world.ts";

const jobKind = wireKind({ group: "batch", version: "v1", kind: "Job", plural: "jobs", namespaced: true });

let world: FaultWorld;
beforeAll(async () => {
  world = await createFaultWorld({ pace: 3 });
  await world.nextLife();
}, 300_000);
afterAll(() => world.stop(), 60_000);

/** Names of environments whose outdated Job is gone: as with Argo CD, only then can a sync make it anew. */
const changeable = new Set<string>();
const removals: Promise<void>[] = [];

/** A ready environment with a Job that has ended and that its next commit can't change. */
async function given(name: string): Promise<void> {
  const { admin, argocd, expectPhase } = world.world;
  world.field.arm(name);
  await world.create(name);
  await expectPhase(name, "ready");
  const namespace = `env-${name}`;
  const annotations = { "argocd.argoproj.io/tracking-id": `${namespace}:batch/Job:${namespace}/migrate` };
  const job = jobObject({ name: "migrate", namespace, annotations }, { ttlSecondsAfterFinished: 5 });
  await admin.create(jobKind, job as Draft<WireObject>);
  const status = jobStatus("Complete");
  await admin.patch(jobKind, { name: "migrate", namespace }, { status }, { as: "merge", subresource: "status" });
  const isGone = async () => (await admin.find(jobKind, { name: "migrate", namespace })) === undefined;
  const removal = until(isGone, { what: `the outdated Job of '${name}' being gone`, deadlineMs: 300_000 });
  removals.push(removal.then(() => void changeable.add(name)));
  argocd.decide(name, ({ backend }) =>
    (backend as { image: string }).image.endsWith(COMMIT) && !changeable.has(name) ? "unchanged" : "healthy",
  );
}

/** Moves them under their plans, with another process for those whose own died, and waits until each is what it should be. */
async function moved(names: readonly string[], plans: readonly FaultPlan[]): Promise<void> {
  const { field, observer } = world;
  for (const [index, name] of names.entries()) {
    field.arm(name, plans[index]);
    await world.world.admin.patch(
      environmentType,
      { name },
      { spec: { backend: { commit: COMMIT } } },
      { as: "merge" },
    );
  }
  const isMoved = (name: string) => {
    const { status } = observer.environment(name) ?? {};
    return status?.phase === "ready" && status.components?.backend?.commit === COMMIT;
  };
  const isOver = (name: string) => isMoved(name) || field.of(name).isDead;
  await until(() => names.every(isOver), { what: "every fault", deadlineMs: 180_000 });
  await world.nextLife();
  await until(() => names.every(isMoved), { what: "the next commit everywhere", deadlineMs: 180_000 });
}

test("a Job that makes way for an update meets every fault: the update comes to its end", async () => {
  await given("replaced-reference");
  await moved(["replaced-reference"], []);
  const { writes, calls } = world.field.of("replaced-reference");
  const targets = [...new Set([...writes, ...calls])].filter((title) => /Job/.test(title));
  expect(targets).toEqual(["delete Job migrate", "call deployer.replaceJobs"]);
  const plans = plansFor("replaced", targets, { admin: world.world.admin, clock: world.clock });
  const names = plans.map((_, index) => `replaced-${index}`);
  await Promise.all(names.map(given));
  await moved(names, plans);
  const struck = plans.map(({ title }, index) => [title, world.field.of(`replaced-${index}`).struck > 0]);
  expect(struck.filter(([, isStruck]) => !isStruck)).toEqual([]);
  await Promise.all(removals);
}, 600_000);
