import { describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import { GROUP } from "../../../../../crds/group.ts";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { roleBindingKind } from "../../../../../operator/kit/client/kinds.ts";
import type { Owner } from "../../../../../operator/ports/cluster.ts";
import { configMaps } from "../../../../support/fixtures/config-maps.ts";
import { CREATED } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { GRACE_MINUTES, nothing, owners, scene } from "./swept-orphans.ts";

const HOLD = "example.test/hold";

const ALL = ["application", "project", "secrets", "namespace"];

describe("a sweep", () => {
  test("reports first and removes after the grace, and leaves a record", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    expect(await world.sweep()).toEqual({ ...nothing, orphans: 1 });
    expect(world.said()).toEqual(["OrphanFound"]);
    expect(await world.sweepLater(GRACE_MINUTES - 1)).toMatchObject({ orphans: 1, removed: 0 });
    expect(await world.left(owner)).toEqual(ALL);
    expect(await world.sweepLater(1)).toMatchObject({ orphans: 1, removed: 1 });
    expect(await world.left(owner)).toEqual([]);
    expect(world.records.list()).toMatchObject([{ uid: owner.uid, reason: "orphaned" }]);
    expect(world.said()).toEqual(["OrphanFound", "OrphanRemoved"]);
    expect(await world.sweep()).toEqual(nothing);
  });

  test("is deleted in the order of a teardown: a blocked step delays those after it", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    world.hold(owner, HOLD);
    await world.sweep();
    expect(await world.sweepLater()).toMatchObject({ removing: 1, removed: 0 });
    expect(await world.left(owner)).toEqual(["namespace"]);
    expect(world.records.list()).toEqual([]);
    world.hold(owner);
    expect(await world.sweepLater(1)).toMatchObject({ removing: 0, stuck: 0, removed: 1 });
  });

  test("finds what the secret manager alone still holds", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([]);
    await world.secretManager.ensure(owner, [{ name: "KEY", version: 1, generate: () => new Sensitive("x") }]);
    world.clock.advance(60 * MINUTE_MS);
    await world.sweep();
    expect(await world.left(owner)).toEqual(["secrets"]);
    await world.sweepLater();
    expect(await world.left(owner)).toEqual([]);
  });

  test("leaves the value of an API token that lives, although the watch lost it", async () => {
    const [owner] = owners(1, "api-token-") as [Owner];
    const world = await scene([]);
    await world.secretManager.ensure(owner, [{ name: "TOKEN", version: 1, generate: () => new Sensitive("x") }]);
    world.tokens = [owner.uid];
    world.clock.advance(60 * MINUTE_MS);
    await world.sweep();
    expect(await world.sweepLater()).toEqual(nothing);
    expect(await world.left(owner)).toEqual(["secrets"]);
  });

  test("counts no API tokens where it judges how many orphans are plausible", async () => {
    const world = await scene(owners(2), { living: 0 });
    world.tokens = owners(100).map(({ uid }) => uid);
    expect(await world.sweep()).toMatchObject({ orphans: 2, isBlocked: true });
  });

  test("reports what is blocked with a remedy, and is repeated less and less often", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    world.hold(owner, HOLD);
    await world.sweep();
    await world.sweepLater();
    expect(await world.sweepLater(4)).toMatchObject({ removing: 1, stuck: 0 });
    expect(await world.sweepLater(1)).toMatchObject({ removing: 0, stuck: 1 });
    const [words] = world.words("OrphanStuck");
    expect(words).toContain(`Namespace env-gone-0 is blocked by ${HOLD}`);
    expect(words).toContain("remove the blocker");
  });

  test("is not stuck while the platform removes what blocks it", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    world.hold(owner, "kubernetes");
    const bound = { name: "ephemeral-environment", namespace: "env-gone-0" };
    const kept = { ...bound, finalizers: [`${GROUP}/teardown`] };
    await world.cluster.ensure(owner, roleBindingKind, { apiVersion: "v1", kind: "RoleBinding", metadata: kept });
    const held = { name: "held", namespace: bound.namespace, uid: "held", resourceVersion: "1" };
    const metadata = { ...held, creationTimestamp: CREATED, deletionTimestamp: CREATED, finalizers: [HOLD] };
    world.cluster.put(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata });
    await world.sweep();
    await world.sweepLater();
    // Named in one sweep, and removed in the next.
    expect(await world.sweepLater(1)).toMatchObject({ removing: 1, stuck: 0 });
    expect(await world.sweepLater(1)).toMatchObject({ removing: 1, stuck: 0 });
    expect(world.cluster.list().filter(({ kind }) => kind === "ConfigMap")).toEqual([]);
    expect(world.said()).not.toContain("OrphanStuck");
  });

  test("keeps what it has ended when its time is over", async () => {
    const gone = owners(3) as [Owner, Owner, Owner];
    const world = await scene(gone);
    await world.sweep();
    const stop = new AbortController();
    const { keep } = world.records;
    world.records.keep = async (record) => {
      await keep(record);
      stop.abort();
    };
    await expect(world.sweepLater(GRACE_MINUTES, stop.signal)).rejects.toThrow();
    expect(world.said()).toEqual(["OrphanFound", "OrphanFound", "OrphanFound", "OrphanRemoved"]);
    world.records.keep = keep;
    expect(await world.sweep()).toMatchObject({ orphans: 2, removed: 2 });
  });

  test("comes to its end although nothing of it is found any more, and leaves a record", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    world.hold(owner, HOLD);
    await world.sweep();
    await world.sweepLater();
    world.hold(owner);
    expect(await world.left(owner)).toEqual([]);
    expect(await world.sweepLater(1)).toEqual({ ...nothing, orphans: 1, removed: 1 });
    expect(world.records.list()).toHaveLength(1);
    expect(await world.sweep()).toMatchObject({ orphans: 0 });
  });

  test("touches nothing more when the environment is back", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    world.hold(owner, HOLD);
    await world.sweep();
    await world.sweepLater();
    world.hold(owner);
    await world.furnish(owner);
    world.living.push(owner.uid);
    expect(await world.sweepLater(60)).toMatchObject({ orphans: 0 });
    expect(await world.left(owner)).toEqual(ALL);
  });

  test("finishes what it began, whatever else turns up meanwhile", async () => {
    const begun = owners(5);
    const world = await scene(begun, { living: 1 });
    for (const owner of begun) world.hold(owner, HOLD);
    await world.sweep();
    await world.sweepLater();
    const late = owners(9, "late");
    for (const owner of late) await world.furnish(owner);
    for (const owner of begun) world.hold(owner);
    expect(await world.sweepLater()).toEqual({ orphans: 14, removing: 0, stuck: 0, removed: 5, isBlocked: true });
    expect(await world.remaining(late)).toBe(9);
  });

  test("waits until the youngest of it is old enough, too", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([]);
    await world.furnish(owner);
    await world.sweep();
    world.clock.advance(5 * MINUTE_MS);
    await world.secretManager.ensure(owner, [{ name: "NEW", version: 1, generate: () => new Sensitive("x") }]);
    expect(await world.sweepLater(5)).toMatchObject({ removed: 0 });
    expect(await world.sweepLater(5)).toMatchObject({ removed: 1 });
  });

  test("begins the grace anew for what was not seen in between", async () => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    await world.sweep();
    world.known.add(owner.uid);
    await world.sweepLater();
    world.known.clear();
    expect(await world.sweep()).toMatchObject({ orphans: 1, removed: 0 });
    expect(await world.sweepLater(GRACE_MINUTES - 1)).toMatchObject({ removed: 0 });
  });

  type World = Awaited<ReturnType<typeof scene>>;

  test.each<[string, (world: World, uid: string) => void]>([
    ["the watch knows the environment", ({ known }, uid) => known.add(uid)],
    ["only the API server knows it", ({ living }, uid) => living.push(uid)],
  ])("leaves alone what has an environment: %s", async (_what, make) => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    make(world, owner.uid);
    await world.sweep();
    expect(await world.sweepLater()).toEqual(nothing);
    expect(await world.left(owner)).toEqual(ALL);
    expect(world.said()).toEqual([]);
  });

  test.each<[string, (world: World) => void, RegExp]>([
    [
      "the list of environments",
      (world) => {
        world.failure = new Error("no answer");
      },
      /no answer/,
    ],
    ["the secret manager", ({ secretManager }) => secretManager.setReachable(false), /away/],
  ])("touches nothing when it can't ask %s", async (_what, make, words) => {
    const [owner] = owners(1) as [Owner];
    const world = await scene([owner]);
    await world.sweep();
    make(world);
    await expect(world.sweepLater()).rejects.toThrow(words);
    world.secretManager.setReachable(true);
    expect(await world.left(owner)).toEqual(ALL);
  });
});
