import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { applicationKind, appProjectKind } from "../../../operator/adapters/argocd/kinds.ts";
import { namespaceKind, type WireObject } from "../../../operator/kit/client/kinds.ts";
import type { ResourceType } from "../../../operator/kit/client/objects.ts";
import { completeInventory } from "../../support/fixtures/environment/environment-inventory.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startOperator();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const argo = { apiVersion: "argoproj.io/v1alpha1", metadata: { name: "", namespace: "argocd" } };
const destination = { server: "https://kubernetes.default.svc", namespace: "somewhere" };
const foreign: { type: ResourceType<WireObject>; environment: string; draft: object; condition: string }[] = [
  { type: namespaceKind, environment: "taken-namespace", draft: { metadata: {} }, condition: "NamespaceReady" },
  {
    type: applicationKind,
    environment: "taken-application",
    draft: { ...argo, spec: { project: "default", source: { repoURL: "https://git.test/x.git" }, destination } },
    condition: "ApplicationSynced",
  },
  {
    type: appProjectKind,
    environment: "taken-project",
    draft: { ...argo, spec: { description: "another owner's" } },
    condition: "ApplicationSynced",
  },
];

const refOf = ({ type, environment }: (typeof foreign)[number]) => ({
  name: `env-${environment}`,
  ...(type.namespaced ? { namespace: "argocd" } : {}),
});

async function make(one: (typeof foreign)[number]): Promise<WireObject> {
  await world.admin.create(one.type, { ...one.draft, metadata: refOf(one) } as never);
  return until(
    async () => {
      const found = await world.admin.find(one.type, refOf(one));
      // Controllers of such an object have acted: every later change is ours.
      const isSettled = one.type !== applicationKind || found?.status !== undefined;
      return isSettled ? found : undefined;
    },
    { what: `the foreign ${one.type.kind}` },
  );
}

const failedBecause = (reason: string, condition: string) => (found: EphemeralEnvironment) =>
  found.status?.phase === "failed" &&
  found.status.conditions?.find(({ type }) => type === condition)?.reason === reason &&
  found.status.conditions.find(({ type }) => type === "Ready")?.reason === reason;

describe("a foreign object", () => {
  test.each(foreign)(
    "$type.kind of the wanted name: failed, and not a byte of it changes",
    async (one) => {
      const before = await make(one);
      await world.create(one.environment);
      const found = await world.expectState(
        one.environment,
        "having failed because of the name",
        failedBecause("NameTaken", one.condition),
      );
      const message = found.status?.conditions?.find(({ type }) => type === "Ready")?.message;
      expect(message).toContain(`${one.type.kind} 'env-${one.environment}'`);
      await world.reconcile(one.environment);
      expect(JSON.stringify(await world.admin.find(one.type, refOf(one)))).toBe(JSON.stringify(before));
    },
    60_000,
  );

  test.each(foreign)(
    "$type.kind of the wanted name outlives the environment's deletion",
    async (one) => {
      const twin = { ...one, environment: `${one.environment}-too` };
      const before = await make(twin);
      const made = await world.create(twin.environment);
      await world.expectPhase(twin.environment, "failed");
      await world.delete(made);
      await world.expectGone(made);
      expect(JSON.stringify(await world.admin.find(twin.type, refOf(twin)))).toBe(JSON.stringify(before));
    },
    120_000,
  );

  test("the environments heal by themselves when it goes", async () => {
    await Promise.all(foreign.map((one) => world.admin.delete(one.type, refOf(one))));
    const healed = foreign.map(({ environment }) => world.expectPhase(environment, "ready"));
    for (const environment of await Promise.all(healed)) {
      expect([...(await world.inventory(environment)).keys()].sort()).toEqual(completeInventory(environment));
    }
  }, 120_000);

  test("an unregistered Repository fails the environment until it is registered", async () => {
    const spec = { backend: { repository: "not-yet-there", branch: "main", commit: "a".repeat(40) } };
    await world.create("unregistered", spec);
    const isMissing = failedBecause("RepositoryNotFound", "SourceResolved");
    const found = await world.expectState("unregistered", "having failed for its Repository", isMissing);
    expect(found.status?.conditions?.find(({ type }) => type === "Ready")?.message).toContain("'not-yet-there'");
    await world.register("not-yet-there");
    await world.expectPhase("unregistered", "ready");
  }, 60_000);
});
