import { afterAll, beforeAll, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { run } from "../../../deploy/local/processes/run.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { eventKind } from "../../../operator/kit/client/kinds.ts";
import { unique } from "../../support/faults/people.ts";
import { backendOnly, createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { until } from "../../support/fixtures/until.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);

interface Told {
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly uid: string };
  readonly series?: { readonly count: number };
}

/** What is told of an environment, and how often. */
async function toldOf({ metadata: { uid } }: EphemeralEnvironment): Promise<Record<string, number>> {
  const { items } = await world.admin.list(eventKind, { namespace: "default" });
  const own = (items as unknown as Told[]).filter(({ regarding }) => regarding.uid === uid);
  return Object.fromEntries(own.map(({ reason, series }) => [reason, series?.count ?? 1]));
}

const untilTold = (environment: EphemeralEnvironment, reason: string) =>
  until(async () => reason in (await toldOf(environment)), { what: `the event ${reason}`, deadlineMs: 20_000 });

test("kubectl describe shows the life of an environment, and reconciles that change nothing tell nothing", async () => {
  const name = unique("told-");
  await world.startOperator();
  const made = await world.create(name);
  await world.expectPhase(name, "ready");
  await untilTold(made, "Ready");
  expect(await toldOf(made)).toEqual({ Created: 1, Ready: 1 });

  for (let pass = 0; pass < 10; pass += 1) await world.reconcile(name);
  await world.admin.patch(environmentType, { name }, { spec: { ttlHours: 72 } }, { as: "merge" });
  await untilTold(made, "Extended");
  expect(await toldOf(made)).toEqual({ Created: 1, Ready: 1, Extended: 1 });

  const commit = "b".repeat(40);
  const backend = { ...backendOnly.backend, commit };
  await world.admin.patch(environmentType, { name }, { spec: { backend } }, { as: "merge" });
  await untilTold(made, "Updated");
  const described = await run(world.plane.kubectl, [
    "--kubeconfig",
    world.plane.kubeconfigPath,
    "describe",
    "eenv",
    name,
  ]);
  expect(described).toMatch(/Normal +Created .*made by/);
  expect(described).toMatch(/Normal +Ready .*ready \d+ s after its creation/);
  expect(described).toMatch(/Normal +Extended .*from 24 to 72 hours/);
  expect(described).toMatch(/Normal +UpdateStarted .*update to backend at bbbbbbbb/);

  await world.abandonOperators();
  await world.startOperator();
  await world.reconcile(name);
  await world.delete(made);
  await world.expectGone(made);
  await untilTold(made, "Deleted");
  // Another leader told nothing again.
  expect(await toldOf(made)).toEqual({ Created: 1, Ready: 1, Extended: 1, UpdateStarted: 1, Updated: 1, Deleted: 1 });
}, 120_000);
