import { randomUUID } from "node:crypto";
import { describe, expect, test } from "@jest/globals";
import { CONFIRM_DELETION_ANNOTATION, ownerLabels } from "../../../../../crds/group.ts";
import { namespaceName } from "../../../../../crds/names.ts";
import { createSweep, type SweepContext } from "../../../../../operator/environment/removal/orphans.ts";
import type { KubeObject } from "../../../../../operator/kit/kube-object.ts";
import { silentLog } from "../../../../../operator/kit/log.ts";
import type { Owner, Removal } from "../../../../../operator/ports/cluster.ts";
import { type HeldOwner, SecretManagerUnavailable } from "../../../../../operator/ports/secret-manager.ts";
import { fixtureSettings, minutesLater } from "../../../../support/environment-fixture.ts";
import { TestClock } from "../../../../support/test-clock.ts";

const GRACE_MINUTES = 10;

function namespace({ name, uid }: Owner, { minute = 0, confirmed = false } = {}): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: {
      ...{
        name: namespaceName(name),
        uid: `namespace-${uid}`,
        resourceVersion: "1",
        labels: ownerLabels({ name, uid }),
      },
      creationTimestamp: minutesLater(minute).toISOString(),
      ...(confirmed ? { annotations: { [CONFIRM_DELETION_ANNOTATION]: "true" } } : {}),
    },
  };
}

const owners = (count: number) => Array.from({ length: count }, (_, at) => ({ name: `gone-${at}`, uid: randomUUID() }));

/** A world that a sweep looks at, an hour after everything was made; what is removed is gone from it. */
function scene(gone: readonly Owner[], { minute = 0, living = 100 } = {}) {
  const clock = new TestClock(minutesLater(60).toISOString());
  const said: string[] = [];
  const world = {
    clock,
    said,
    namespaces: gone.map((owner) => namespace(owner, { minute })),
    secrets: [] as HeldOwner[],
    known: new Set<string>(),
    living: Array.from({ length: living }, () => randomUUID()) as string[],
    failure: undefined as Error | undefined,
    removal: { state: "gone" } as Removal,
    asked: [] as string[],
    recorded: [] as { uid: string; reason: string }[],
  };
  const undone = (step: string) => async (owner: Owner) => {
    world.asked.push(`${step} ${owner.name}`);
    return { state: "gone" as const };
  };
  const context = {
    ...{ clock, log: silentLog, settings: fixtureSettings },
    belongings: () => world.namespaces,
    isKnown: (uid: string) => world.known.has(uid),
    async livingUids() {
      if (world.failure) throw world.failure;
      return world.living;
    },
    deployer: { remove: undone("application"), unconfine: undone("project") },
    secretManager: { owners: async () => world.secrets, remove: undone("secrets"), holdsAny: async () => false },
    cluster: {
      async remove(owner: Owner) {
        await undone("namespace")(owner);
        if (world.removal.state === "gone")
          world.namespaces = world.namespaces.filter(({ metadata }) => metadata.uid !== `namespace-${owner.uid}`);
        return world.removal;
      },
    },
    records: { keep: async (record: { uid: string; reason: string }) => void world.recorded.push(record) },
    bulletin: { publish: ({ reason }: { reason: string }) => void said.push(reason) },
  } as unknown as SweepContext;
  const sweep = createSweep(context);
  return Object.assign(world, {
    sweep: () => sweep(new AbortController().signal),
    async sweepLater(minutes = GRACE_MINUTES) {
      clock.advance(minutes * 60_000);
      return sweep(new AbortController().signal);
    },
  });
}

describe("a sweep", () => {
  test("reports first and removes after the grace, in the order of a teardown, and leaves a record", async () => {
    const [owner] = owners(1) as [Owner];
    const world = scene([owner]);
    expect(await world.sweep()).toEqual({ orphans: 1, removing: 0, stuck: 0, removed: 0, isHeld: false });
    expect(world.said).toEqual(["OrphanFound"]);
    expect(await world.sweepLater(GRACE_MINUTES - 1)).toMatchObject({ orphans: 1, removed: 0 });
    expect(world.asked).toEqual([]);
    expect(await world.sweepLater(1)).toMatchObject({ orphans: 1, removed: 1 });
    expect(world.asked).toEqual(["application", "project", "secrets", "namespace"].map((step) => `${step} gone-0`));
    expect(world.recorded).toMatchObject([{ uid: owner.uid, reason: "orphaned" }]);
    expect(world.said).toEqual(["OrphanFound", "OrphanRemoved"]);
    expect(await world.sweep()).toEqual({ orphans: 0, removing: 0, stuck: 0, removed: 0, isHeld: false });
  });

  test("finds what the secret manager alone still holds", async () => {
    const world = scene([]);
    world.secrets = [{ name: "gone", uid: randomUUID(), since: minutesLater(0), until: minutesLater(0) }];
    await world.sweep();
    await world.sweepLater();
    expect(world.asked).toContain("secrets gone");
  });

  test("goes on until it is gone", async () => {
    const world = scene(owners(1));
    world.removal = { state: "removing", message: "being deleted" };
    await world.sweep();
    expect(await world.sweepLater()).toMatchObject({ removing: 1, removed: 0 });
    world.removal = { state: "gone" };
    expect(await world.sweepLater(1)).toMatchObject({ removing: 0, stuck: 0, removed: 1 });
  });

  test("tells what does not go, and looks again without haste", async () => {
    const world = scene(owners(1));
    world.removal = { state: "removing", message: "held" };
    await world.sweep();
    await world.sweepLater();
    expect(await world.sweepLater(4)).toMatchObject({ removing: 1, stuck: 0 });
    expect(await world.sweepLater(1)).toMatchObject({ removing: 0, stuck: 1 });
  });

  test("comes to its end although nothing of it is found any more, and leaves a record", async () => {
    const world = scene(owners(1));
    world.removal = { state: "removing", message: "being deleted" };
    await world.sweep();
    await world.sweepLater();
    world.namespaces = [];
    world.removal = { state: "gone" };
    expect(await world.sweepLater(1)).toEqual({ orphans: 1, removing: 0, stuck: 0, removed: 1, isHeld: false });
    expect(world.recorded).toHaveLength(1);
    expect(await world.sweep()).toMatchObject({ orphans: 0 });
  });

  test("touches nothing more when the environment is back", async () => {
    const [owner] = owners(1) as [Owner];
    const world = scene([owner]);
    world.removal = { state: "removing", message: "being deleted" };
    await world.sweep();
    await world.sweepLater();
    const asked = world.asked.length;
    world.living.push(owner.uid);
    expect(await world.sweepLater(1)).toMatchObject({ orphans: 0 });
    expect(world.asked).toHaveLength(asked);
  });

  test("finishes what it began, whatever else turns up meanwhile", async () => {
    const world = scene(owners(5), { living: 0 });
    world.removal = { state: "removing", message: "being deleted" };
    await world.sweep();
    await world.sweepLater();
    world.namespaces.push(...owners(9).map((owner) => namespace({ ...owner, name: `late${owner.name}` })));
    world.removal = { state: "gone" };
    expect(await world.sweepLater()).toEqual({ orphans: 14, removing: 0, stuck: 0, removed: 5, isHeld: true });
  });

  test("waits until the youngest of it is old enough, too", async () => {
    const world = scene(owners(1), { minute: 65 });
    await world.sweep();
    expect(await world.sweepLater(GRACE_MINUTES)).toMatchObject({ removed: 0 });
    expect(await world.sweepLater(5)).toMatchObject({ removed: 1 });
  });

  test("begins the grace anew for what was not seen in between", async () => {
    const world = scene(owners(1));
    const before = world.namespaces;
    await world.sweep();
    world.namespaces = [];
    await world.sweepLater();
    world.namespaces = before;
    expect(await world.sweep()).toMatchObject({ orphans: 1, removed: 0 });
    expect(await world.sweepLater(GRACE_MINUTES - 1)).toMatchObject({ removed: 0 });
  });

  test.each<[string, (world: ReturnType<typeof scene>, uid: string) => void]>([
    ["the watch knows the environment", ({ known }, uid) => known.add(uid)],
    ["only the API server knows it", ({ living }, uid) => living.push(uid)],
  ])("leaves alone what has an environment: %s", async (_what, make) => {
    const [owner] = owners(1) as [Owner];
    const world = scene([owner]);
    make(world, owner.uid);
    await world.sweep();
    expect(await world.sweepLater()).toEqual({ orphans: 0, removing: 0, stuck: 0, removed: 0, isHeld: false });
    expect([...world.asked, ...world.said]).toEqual([]);
  });

  test.each<[string, (world: ReturnType<typeof scene>) => void, RegExp]>([
    [
      "the list of environments",
      (world) => {
        world.failure = new Error("no answer");
      },
      /no answer/,
    ],
    [
      "the secret manager",
      (world) => {
        Object.defineProperty(world, "secrets", {
          get() {
            throw new SecretManagerUnavailable("away");
          },
        });
      },
      /away/,
    ],
  ])("touches nothing when it can't ask %s", async (_what, make, words) => {
    const world = scene(owners(1));
    await world.sweep();
    make(world);
    await expect(world.sweepLater()).rejects.toThrow(words);
    expect(world.asked).toEqual([]);
  });

  test.each([
    { orphans: 5, living: 0, isHeld: false },
    { orphans: 6, living: 0, isHeld: true },
    { orphans: 10, living: 100, isHeld: false },
    { orphans: 11, living: 100, isHeld: true },
  ])("holds what is implausible: $orphans orphans beside $living environments", async ({ orphans, living, isHeld }) => {
    const world = scene(owners(orphans), { living });
    await world.sweep();
    expect(await world.sweepLater()).toEqual({ orphans, removing: 0, stuck: 0, removed: isHeld ? 0 : orphans, isHeld });
    expect(world.said.filter((reason) => reason === "SweepHeld")).toHaveLength(isHeld ? 1 : 0);
  });

  test("lets go what an admin confirmed, and the rest when it is few", async () => {
    const gone = owners(7);
    const world = scene(gone, { living: 0 });
    await world.sweep();
    world.namespaces = gone.map((owner, at) => namespace(owner, { confirmed: at === 0 }));
    expect(await world.sweepLater()).toEqual({ orphans: 7, removing: 0, stuck: 0, removed: 1, isHeld: true });
    world.namespaces = world.namespaces.slice(1);
    expect(await world.sweep()).toEqual({ orphans: 5, removing: 0, stuck: 0, removed: 5, isHeld: false });
  });
});
