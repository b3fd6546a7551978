import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind as secretType } from "../../../operator/kit/client/kinds.ts";
import { crash, crashPoints } from "../../support/faults/crash.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-seams.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { completeInventory, FIRST_POD_SECRET, type Inventory } from "../../support/fixtures/environment-inventory.ts";
import { createWorld, podSecretRef, type World } from "../../support/fixtures/environment-world.ts";

/** Fewer writes than these would mean that the recording missed some. */
const KNOWN_CREATE_WRITES = [
  "patch EphemeralEnvironment NAME #1",
  "create Namespace env-NAME #1",
  "create ResourceQuota environment #1",
  "create ResourceQuota priority-classes #1",
  "create LimitRange environment #1",
  "create NetworkPolicy default-deny #1",
  "create NetworkPolicy allowed-traffic #1",
  "create RoleBinding ephemeral-environment #1",
  "create Secret store NAME-UID #1",
  `create Secret ${FIRST_POD_SECRET} #1`,
  "create AppProject env-NAME #1",
  "create Application env-NAME #1",
  "patch EphemeralEnvironment/status NAME #1",
];
const KNOWN_UPDATE_WRITES = ["patch Application env-NAME #1", "patch EphemeralEnvironment/status NAME #1"];
const KNOWN_DELETE_WRITES = [
  "delete Application env-NAME #1",
  "delete AppProject env-NAME #1",
  "delete Secret store NAME-UID #1",
  "delete Namespace env-NAME #1",
  "create EnvironmentRecord UID #1",
  "patch EphemeralEnvironment NAME #1",
];

let world: World;
/** What a run without faults writes. */
let creates: readonly string[];
let updates: readonly string[];
let deletes: readonly string[];

beforeAll(async () => {
  world = await createWorld();
  const name = "without-fault";
  const creation = recordWrites(concernedAmong([name]));
  const creator = await world.startOperator({ onRequest: creation.seam });
  const made = await world.create(name);
  await world.expectPhase(name, "ready");
  await creator.stop();
  const update = recordWrites(concernedAmong([name]));
  const updater = await world.startOperator({ onRequest: update.seam });
  await askForNext(name);
  await world.expectState(name, "updated", runsNext);
  await updater.stop();
  const deletion = recordWrites(concernedAmong([name]));
  const remover = await world.startOperator({ onRequest: deletion.seam });
  await world.delete(made);
  await world.expectGone(made);
  await remover.stop();
  creates = sure(creation.writes(name));
  updates = sure(update.writes(name));
  deletes = sure(deletion.writes(name));
}, 120_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

/** Without what a right that is new was refused first and sent again: another run may do without it. */
const sure = (writes: readonly string[]) =>
  writes.filter((write) => write.endsWith(" #1") || write.includes("/status "));

const NEXT = "b".repeat(40);
const askForNext = (name: string) =>
  world.admin.patch(environmentType, { name }, { spec: { backend: { commit: NEXT } } }, { as: "merge" });
const runsNext = ({ status }: EphemeralEnvironment) =>
  status?.phase === "ready" && status.components?.backend?.commit === NEXT;

const isReady = async (name: string) => (await world.find(name))?.status?.phase === "ready";
const isGone = async (name: string) => (await world.find(name)) === undefined;
const createAll = (names: Iterable<string>) => Promise.all([...names].map((name) => world.create(name)));
const inventories = (made: readonly EphemeralEnvironment[]) => Promise.all(made.map(world.inventory));

/** Which objects there are, by UID, and the values of those that hold secrets: none of it may ever change. */
function lasting(inventory: Inventory): Map<string, unknown> {
  return new Map([...inventory].map(([title, { metadata, data }]) => [title, { uid: metadata.uid, data }]));
}

/** What remains of environments that are gone, in the same order; fails for one that left none. */
function recordsOf(made: readonly EphemeralEnvironment[]) {
  return Promise.all(
    made.map(async ({ metadata }) => {
      const record = await world.admin.find(recordType, { name: metadata.uid, namespace: "ephemeral-system" });
      if (record === undefined) throw new Error(`'${metadata.name}' left no record`);
      return record;
    }),
  );
}

/** The values in the secret manager, by variable. */
function stored(inventory: Inventory, { metadata }: EphemeralEnvironment): Record<string, string> {
  const store = inventory.get(`store/${metadata.name}-${metadata.uid.slice(0, 8)}`);
  const versions = Object.entries((store?.data ?? {}) as Record<string, string>);
  return Object.fromEntries(versions.map(([key, value]) => [key.replace(/\.1$/, ""), value]));
}

describe("the operator is killed at a write", () => {
  test("the recording has every write that is known", () => {
    expect(creates).toEqual(expect.arrayContaining(KNOWN_CREATE_WRITES));
    expect(updates).toEqual(expect.arrayContaining(KNOWN_UPDATE_WRITES));
    expect(deletes).toEqual(expect.arrayContaining(KNOWN_DELETE_WRITES));
    // Held before anything is made: a deletion at any later moment finds it.
    expect(creates[0]).toBe("patch EphemeralEnvironment NAME #1");
    // The bounds of what one environment may cost the API server.
    expect(creates.length).toBeLessThanOrEqual(16);
    expect(deletes.length).toBeLessThanOrEqual(9);
  });

  test("of a creation: the next one completes the same environment, with the same secrets and nothing twice", async () => {
    const points = crashPoints(creates, "made");
    let made: EphemeralEnvironment[] = [];
    const act = async () => {
      made = await createAll(points.keys());
    };
    await crash(world, { points, act, isThrough: isReady });
    const atCrash = await inventories(made);
    await world.startOperator().then(async ({ stop }) => {
      await Promise.all(made.map(({ metadata }) => world.expectPhase(metadata.name, "ready")));
      await stop();
    });
    const atEnd = await inventories(made);
    for (const [index, environment] of made.entries()) {
      const [before, after] = [atCrash[index], atEnd[index]] as [Inventory, Inventory];
      expect([...after.keys()].sort()).toEqual(completeInventory(environment));
      expect(new Map([...lasting(after)].filter(([title]) => before.has(title)))).toEqual(lasting(before));
      const pods = await world.admin.find(secretType, podSecretRef(environment.metadata.name));
      expect(pods?.data).toEqual(stored(after, environment));
      expect(Object.keys(pods?.data ?? {}).sort()).toEqual(["API_TOKEN", "DATABASE_PASSWORD", "SECRET_KEY"]);
    }
  }, 120_000);

  test("of an update: the next one completes it, and nothing but the application is another than before", async () => {
    const points = crashPoints(updates, "moved");
    const whole = await world.startOperator();
    const made = await createAll(points.keys());
    await Promise.all(made.map(({ metadata }) => world.expectPhase(metadata.name, "ready")));
    await whole.stop();
    const before = (await inventories(made)).map(lasting);
    const isThrough = async (name: string) => {
      const found = await world.find(name);
      return found !== undefined && runsNext(found);
    };
    await crash(world, { points, act: () => Promise.all([...points.keys()].map(askForNext)), isThrough });
    const { stop } = await world.startOperator();
    await Promise.all(made.map(({ metadata }) => world.expectState(metadata.name, "updated", runsNext)));
    await stop();
    expect((await inventories(made)).map(lasting)).toEqual(before);
    for (const { metadata } of made) {
      expect((await applicationValues(world.admin, metadata.name))?.backend.image).toMatch(new RegExp(`:${NEXT}$`));
    }
  }, 180_000);

  test("of a deletion: the next one leaves nothing", async () => {
    const points = crashPoints(deletes, "left");
    const whole = await world.startOperator();
    const made = await createAll(points.keys());
    await Promise.all(made.map(({ metadata }) => world.expectPhase(metadata.name, "ready")));
    await whole.stop();
    await crash(world, { points, act: () => Promise.all(made.map(world.delete)), isThrough: isGone });
    const { stop } = await world.startOperator();
    await Promise.all(made.map(world.expectGone));
    await stop();
    // One each, whenever the crash came.
    const records = await recordsOf(made);
    expect(records.map(({ spec }) => ({ name: spec.name, reason: spec.reason, phase: spec.phase }))).toEqual(
      made.map(({ metadata }) => ({ name: metadata.name, reason: "deleted", phase: "ready" })),
    );
  }, 180_000);

  test("of a creation, and the environment is deleted before the next one starts: nothing is left", async () => {
    const points = crashPoints(creates, "unmade");
    let made: EphemeralEnvironment[] = [];
    const act = async () => {
      made = await createAll(points.keys());
    };
    await crash(world, { points, act, isThrough: isReady });
    await Promise.all(made.map(world.delete));
    const { stop } = await world.startOperator();
    await Promise.all(made.map(world.expectGone));
    await stop();
  }, 180_000);
});
