import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { podSecretName } from "../../../operator/environment/desired/secret.ts";
import { concernedAmong, recordWrites } from "../../support/faults/request-seams.ts";
import { FIRST_POD_SECRET } from "../../support/fixtures/environment-inventory.ts";
import { createWorld, type World } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";

/** A former Secret goes with the first reconcile after the new values answered. */
const settings = settingsFrom({ ...testSettings, reconcile: { probeSeconds: 5 } });
const ROTATED = podSecretName([
  { name: "API_TOKEN", version: 1 },
  { name: "DATABASE_PASSWORD", version: 1 },
  { name: "SECRET_KEY", version: 2 },
]);

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 60_000);
afterAll(() => world.stop(), 60_000);

test("a rotation is the manager's value, the new Secret, the application, and the end of the old Secret", async () => {
  const name = "rotated";
  const recording = recordWrites(concernedAmong([name]));
  await world.startOperator({ settings, onRequest: recording.seam });
  await world.create(name);
  await world.expectPhase(name, "ready");
  const before = recording.writes(name).length;
  const rotate = { spec: { secrets: { rotate: { SECRET_KEY: "1" } } } };
  await world.admin.patch(environmentType, { name }, rotate, { as: "merge" });
  await world.expectState(
    name,
    "having rotated",
    ({ status }) => status?.phase === "ready" && status.podSecrets?.join() === ROTATED,
  );
  const writes = recording.writes(name).slice(before);
  expect(writes.filter((write) => !write.startsWith("patch EphemeralEnvironment"))).toEqual([
    "patch Secret store NAME-UID #1",
    `create Secret ${ROTATED} #1`,
    "patch Application env-NAME #1",
    `delete Secret ${FIRST_POD_SECRET} #1`,
  ]);
}, 60_000);
