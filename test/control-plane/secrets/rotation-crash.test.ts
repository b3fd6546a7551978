import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { podSecretName } from "../../../operator/environment/desired/secret.ts";
import { crash, crashPoints } from "../../support/faults/crash.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-seams.ts";
import { applicationValues } from "../../support/fixtures/application-values.ts";
import { FIRST_POD_SECRET, type Inventory } from "../../support/fixtures/environment-inventory.ts";
import { createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";

/** Former Secrets go when somebody looks again after the new values answered. */
const settings = settingsFrom({ ...testSettings, reconcile: { probeSeconds: 5 } });
const ROTATED = podSecretName([
  { name: "API_TOKEN", version: 1 },
  { name: "DATABASE_PASSWORD", version: 1 },
  { name: "SECRET_KEY", version: 2 },
]);

let world: World;
/** What a rotation without faults writes. */
let writes: readonly string[];
beforeAll(async () => {
  world = await createWorld();
  const name = "without-fault";
  const recording = recordWrites(concernedAmong([name]));
  const { stop } = await world.startOperator({ settings, onRequest: recording.seam });
  await world.create(name);
  await world.expectPhase(name, "ready");
  const made = recording.writes(name).length;
  await rotate(name);
  await world.expectState(name, "having rotated", hasRotated);
  await stop();
  writes = recording
    .writes(name)
    .slice(made)
    .map((write) => write.replace(/ #\d+$/, ""));
}, 120_000);
afterEach(() => world.abandonOperators());
afterAll(() => world.stop(), 60_000);

const rotate = (name: string) =>
  world.admin.patch(environmentType, { name }, { spec: { secrets: { rotate: { SECRET_KEY: "1" } } } }, { as: "merge" });

/** The new values answer, and the old ones are gone. */
const hasRotated = ({ status }: EphemeralEnvironment) =>
  status?.phase === "ready" && status.podSecrets?.join() === ROTATED;

const dataOf = (inventory: Inventory, title: string) => (inventory.get(title)?.data ?? {}) as Record<string, string>;
const storeOf = ({ metadata }: EphemeralEnvironment) => `store/${metadata.name}-${metadata.uid.slice(0, 8)}`;

test("a rotation is the manager's value, the new Secret, the application, and the end of the old Secret", () => {
  const children = writes.filter((write) => !write.startsWith("patch EphemeralEnvironment"));
  expect(children).toEqual([
    "patch Secret store NAME-UID",
    `create Secret ${ROTATED}`,
    "patch Application env-NAME",
    `delete Secret ${FIRST_POD_SECRET}`,
  ]);
});

test("an operator that is killed at any write of it: the next one completes the same rotation, once", async () => {
  const numbered = writes.map(
    (write, index) => `${write} #${writes.slice(0, index + 1).filter((w) => w === write).length}`,
  );
  const points = crashPoints(numbered, "rotated");
  const whole = await world.startOperator({ settings });
  const made = await Promise.all([...points.keys()].map((name) => world.create(name)));
  await Promise.all(made.map(({ metadata }) => world.expectPhase(metadata.name, "ready")));
  await whole.stop();
  const before = await Promise.all(made.map(world.inventory));
  const act = () => Promise.all([...points.keys()].map(rotate));
  const isThrough = async (name: string) => {
    const found = await world.find(name);
    return found !== undefined && hasRotated(found);
  };
  await crash(world, { points, options: { settings }, act, isThrough });
  const stores = (await Promise.all(made.map(world.inventory))).map((inventory, index) =>
    dataOf(inventory, storeOf(made[index] as EphemeralEnvironment)),
  );

  const { stop } = await world.startOperator({ settings });
  await Promise.all(made.map(({ metadata }) => world.expectState(metadata.name, "having rotated", hasRotated)));
  await stop();
  for (const [index, environment] of made.entries()) {
    const [was, is] = [before[index] as Inventory, await world.inventory(environment)];
    const store = dataOf(is, storeOf(environment));
    // Nothing that was there is another value now: neither from before the crash nor from in between.
    expect(store).toMatchObject({ ...dataOf(was, storeOf(environment)), ...stores[index] });
    expect(Object.keys(store).sort()).toEqual(["API_TOKEN.1", "DATABASE_PASSWORD.1", "SECRET_KEY.1", "SECRET_KEY.2"]);
    expect([...is.keys()].filter((title) => title.startsWith("Secret/"))).toEqual([`Secret/${ROTATED}`]);
    expect(dataOf(is, `Secret/${ROTATED}`)).toEqual({
      API_TOKEN: store["API_TOKEN.1"],
      DATABASE_PASSWORD: store["DATABASE_PASSWORD.1"],
      SECRET_KEY: store["SECRET_KEY.2"],
    });
    expect(store["SECRET_KEY.2"]).not.toBe(store["SECRET_KEY.1"]);
    expect((await applicationValues(world.admin, environment.metadata.name))?.secret.name).toBe(ROTATED);
  }
}, 180_000);
