import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { FINALIZER } from "../../../crds/group.ts";
import type { Repository } from "../../../crds/repository/repository.ts";
import { repositoryType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { backendOnly, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

async function registered(): Promise<string> {
  const name = unique("repo-");
  await world.register(name);
  return name;
}

const ref = (name: string) => ({ name, namespace: "ephemeral-system" });
const find = (name: string) => world.admin.find(repositoryType, ref(name));
const expectRepository = (name: string, what: string, isSo: (found: Repository | undefined) => boolean) =>
  until(async () => isSo(await find(name)), { what: `Repository '${name}' ${what}`, deadlineMs: 30_000 });

test("an unreachable Repository says why, and is not kept while it is unused", async () => {
  const name = await registered();
  await expectRepository(name, "having been checked", (found) => found?.status?.lastCheckedAt !== undefined);
  const found = await find(name);
  expect(found?.status).toMatchObject({
    observedGeneration: 1,
    reachable: false,
    conditions: [
      { type: "Ready", status: "False", reason: "Unreachable", message: expect.stringContaining("ECONNREFUSED") },
    ],
  });
  expect(found?.metadata.finalizers).toBeUndefined();
  await world.admin.delete(repositoryType, ref(name));
  expect(await find(name)).toBeUndefined();
}, 40_000);

test("a Repository goes with the last environment that it has, and none of them is disturbed", async () => {
  const name = await registered();
  const [one, other] = [unique("one-"), unique("other-")];
  const spec = { backend: { ...backendOnly.backend, repository: name } };
  const made = [await world.create(one, spec), await world.create(other, spec)];
  await world.expectPhase(one, "ready");
  await world.expectPhase(other, "ready");
  await expectRepository(name, "being kept", (found) => found?.metadata.finalizers?.includes(FINALIZER) ?? false);
  await world.admin.delete(repositoryType, ref(name));
  expect((await world.reconcile(one)).status?.phase).toBe("ready");
  for (const environment of made) {
    expect((await find(name))?.metadata.deletionTimestamp).toBeDefined();
    await world.delete(environment);
    await world.expectGone(environment);
  }
  await expectRepository(name, "being gone", (found) => found === undefined);
}, 120_000);
