import { describe, expect, test } from "@jest/globals";
import { isOver } from "../../../../../../operator/controllers/environment/deletion/teardown.ts";
import { KubeError } from "../../../../../../operator/kit/client/errors.ts";
import {
  namespaceKind,
  roleBindingKind,
  volumeClaimKind,
  volumeKind,
} from "../../../../../../operator/kit/client/kinds.ts";
import { CREATED } from "../../../../../support/fixtures/environment/environment-fixture.ts";
import { HOLD, type Scene, scene, shop } from "./teardown-scene.ts";

const namespace = "env-shop";
const metadata = (name: string) => ({ name, uid: `uid-of-${name}`, resourceVersion: "1", creationTimestamp: CREATED });

const bind = (world: Scene) =>
  world.cluster.ensure(shop, roleBindingKind, {
    apiVersion: "v1",
    kind: "RoleBinding",
    metadata: { name: "ephemeral-environment", namespace },
  });

function put(world: Scene, volumeName: string, annotations: Record<string, string> = {}): void {
  const claim = { ...metadata(`claim-${volumeName}`), namespace };
  world.cluster.put(volumeClaimKind, {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: claim,
    spec: { volumeName },
  });
  const spec = { claimRef: { uid: claim.uid }, persistentVolumeReclaimPolicy: "Retain" };
  const volume = { ...metadata(volumeName), annotations };
  world.cluster.put(volumeKind, { apiVersion: "v1", kind: "PersistentVolume", metadata: volume, spec });
}

const policyOf = (world: Scene, name: string) =>
  world.cluster.list().find(({ kind, metadata: { name: found } }) => kind === "PersistentVolume" && found === name)
    ?.spec;
const AWAY = new KubeError({ status: 503, reason: "ServiceUnavailable" });
const CHOSEN = { "pv.kubernetes.io/bound-by-controller": "yes" };

describe("retained volumes", () => {
  test("go with their claims before the application does, but for those that were there before", async () => {
    const world = await scene();
    await bind(world);
    put(world, "made");
    put(world, "found", CHOSEN);
    world.holdApplication(HOLD);
    const waiting = await world.pass();
    expect(waiting.states.slice(0, 2)).toEqual(["gone", "waiting"]);
    expect(waiting.steps[0]?.message).toBe("found");
    expect(policyOf(world, "made")).toMatchObject({ persistentVolumeReclaimPolicy: "Delete" });
    expect(policyOf(world, "found")).toMatchObject({ persistentVolumeReclaimPolicy: "Retain" });
  });

  test("stay where the settings say so, by name, until the end", async () => {
    const world = await scene({ deletion: { retainedVolumes: "Retain" } });
    await bind(world);
    put(world, "one");
    put(world, "other");
    const last = await world.pass();
    expect(isOver(last)).toBe(true);
    expect(last.steps[0]).toMatchObject({ state: "gone", message: "one, other" });
    expect(policyOf(world, "one")).toMatchObject({ persistentVolumeReclaimPolicy: "Retain" });
  });

  test("go or are named, too, when they were made while the application was being deleted", async () => {
    const world = await scene();
    world.holdNamespace("kubernetes");
    await bind(world);
    put(world, "found", CHOSEN);
    world.holdApplication(HOLD);
    await world.pass();
    put(world, "late");
    put(world, "found-late", CHOSEN);
    world.holdApplication();
    const isDeleted = () =>
      world.cluster.observe(shop, namespaceKind, { name: namespace })?.metadata.deletionTimestamp !== undefined;
    world.cluster.fail(roleBindingKind, AWAY);
    expect((await world.pass()).steps[0]).toMatchObject({ state: "gone", message: "found" });
    world.cluster.fail(roleBindingKind, undefined);
    // The status has the names before the namespace goes, in case the process ends here.
    const named = await world.pass();
    expect(named.states.slice(0, 5)).toEqual(["gone", "gone", "gone", "gone", "waiting"]);
    expect(named.steps[0]?.message).toBe("found, found-late");
    expect(policyOf(world, "late")).toMatchObject({ persistentVolumeReclaimPolicy: "Delete" });
    expect(isDeleted()).toBe(false);
    await world.pass();
    expect(isDeleted()).toBe(true);
    // From now on nothing may look for them.
    world.cluster.fail(roleBindingKind, AWAY);
    expect((await world.pass()).steps[0]).toMatchObject({ state: "gone", message: "found, found-late" });
  });

  test("hold no deletion where they are more than the status names", async () => {
    const world = await scene({ deletion: { retainedVolumes: "Retain" } });
    await bind(world);
    for (let at = 0; at < 60; at += 1) put(world, `${"volume-".repeat(8)}${at}`);
    const last = await world.pass();
    expect(isOver(last)).toBe(true);
    expect(last.steps[0]?.message?.length).toBeGreaterThan(1_000);
  });

  test("are none where the environment has no RoleBinding: the namespace may be foreign", async () => {
    const world = await scene();
    put(world, "theirs");
    expect((await world.pass()).steps[0]).toMatchObject({ name: "volumes", state: "gone" });
    expect(policyOf(world, "theirs")).toMatchObject({ persistentVolumeReclaimPolicy: "Retain" });
  });

  test("hold the deletion while they can't be looked for, and an admin may skip them", async () => {
    const world = await scene();
    await bind(world);
    world.cluster.fail(roleBindingKind, new KubeError({ status: 500, reason: "InternalError" }));
    expect((await world.pass()).states.slice(0, 2)).toEqual(["waiting", "pending"]);
    world.force("volumes");
    expect((await world.pass({ after: 5 })).states[0]).toBe("forced");
  });
});
