import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { claimDraft, claims, givenVolume, volumes } from "../../support/fixtures/volumes.ts";
import { callsAs } from "../../support/plane/api-calls.ts";
import { unique } from "../../support/plane/people.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
const made: string[] = [];
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterEach(async () => {
  await world.abandonOperators();
  for (const name of made.splice(0)) await world.admin.delete(volumes, { name });
});
afterAll(() => world.stop(), 60_000);

/** The environment's claim gets a volume that outlives it, as from a class with the policy `Retain`. */
async function withVolume(environment: string, annotations: Record<string, string> = {}): Promise<string> {
  const ref = { name: unique("data-"), namespace: `env-${environment}` };
  const claim = await world.admin.create(claims, claimDraft(ref));
  const name = unique("volume-");
  made.push(name);
  await givenVolume(world.admin, claim, { name, policy: "Retain", annotations });
  // Only Kubernetes may bind a claim of an environment.
  const binder = callsAs(world.plane, { user: "system:kube-controller-manager", groups: ["system:masters"] });
  const path = `/api/v1/namespaces/${ref.namespace}/persistentvolumeclaims/${ref.name}`;
  expect(await binder.patch(path, { spec: { volumeName: name } })).toMatchObject({ status: 200 });
  return name;
}

const policyOf = async (name: string) =>
  (await world.admin.find(volumes, { name }))?.spec?.persistentVolumeReclaimPolicy;
const keptOf = async ({ metadata }: EphemeralEnvironment) =>
  (await world.admin.find(recordType, { name: metadata.uid, namespace: "ephemeral-system" }))?.spec?.keptVolumes;

describe("a volume whose class says Retain", () => {
  test("goes with its environment, but for one that was there before", async () => {
    const name = "retained";
    const { stop } = await world.startOperator();
    await world.create(name);
    const ready = await world.expectPhase(name, "ready");
    const own = await withVolume(name);
    const found = await withVolume(name, { "pv.kubernetes.io/bound-by-controller": "yes" });
    await world.delete(ready);
    await world.expectGone(ready);
    expect(await policyOf(own)).toBe("Delete");
    expect(await policyOf(found)).toBe("Retain");
    expect(await keptOf(ready)).toBe(found);
    await stop();
  }, 120_000);

  test("stays where the settings say so, and the record names it", async () => {
    const name = "retained-on";
    const settings = settingsFrom({ ...testSettings, deletion: { retainedVolumes: "Retain" } });
    const { stop } = await world.startOperator({ settings });
    await world.create(name);
    const ready = await world.expectPhase(name, "ready");
    const own = await withVolume(name);
    await world.delete(ready);
    await world.expectGone(ready);
    expect(await policyOf(own)).toBe("Retain");
    expect(await keptOf(ready)).toBe(own);
    await stop();
  }, 120_000);
});
