import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { secretEntryId } from "../../../crds/names.ts";
import { Sensitive } from "../../../crds/sensitive.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import type { SecretManager } from "../../../operator/ports/secret-manager.ts";
import type { OperatorOptions } from "../../../operator/wiring/operator.ts";
import {
  type GoogleSecretManagerServer,
  googleManager,
  startGoogleSecretManager,
} from "../../support/doubles/google-secret-manager.ts";
import { until } from "../../support/fixtures/until.ts";
import { backendOnly, createWorld, podSecretRef, type World } from "../../support/worlds/environment-world.ts";

let world: World;
let google: GoogleSecretManagerServer;
let secretManager: SecretManager;
beforeAll(async () => {
  [world, google] = await Promise.all([createWorld(), startGoogleSecretManager()]);
  secretManager = googleManager(google);
}, 180_000);
afterEach(() => world.abandonOperators());
afterEach(() => google.store.lag("nothing"));
afterAll(async () => {
  await world.stop();
  await secretManager.close();
  await google.stop();
}, 60_000);

const withGoogle: NonNullable<OperatorOptions["onPorts"]> = (context) => ({ ...context, secretManager });
const ids = () => [...google.store.secrets.keys()].map((name) => name.split("/").at(-1));

test("an environment is made and removed whole although Google's lists show nothing of it", async () => {
  google.store.lag("lists");
  const { stop } = await world.startOperator({ onPorts: withGoogle });
  const made = await world.create("google-lags", { ...backendOnly, secrets: { provided: ["GIVEN"] } });
  await secretManager.ensure(made.metadata, [{ name: "GIVEN", version: 1, generate: () => new Sensitive("given") }]);
  await world.expectPhase("google-lags", "ready");
  const variables = ["API_TOKEN", "DATABASE_PASSWORD", "GIVEN", "SECRET_KEY"];
  expect(ids().sort()).toEqual(variables.map((variable) => secretEntryId(made.metadata, variable)));
  await world.delete(made);
  await world.expectGone(made);
  expect(ids()).toEqual([]);
  await stop();
}, 120_000);

test("what was made before any status names it goes with the environment", async () => {
  google.store.lag("lists");
  const forgetful = await world.startOperator({
    onPorts: ({ statusWriter, ...context }) => ({
      ...withGoogle({ statusWriter, ...context }),
      statusWriter: Object.assign(Object.create(statusWriter), {
        writeStatus: () => Promise.reject(new Error("no status is ever written")),
      }),
    }),
  });
  const made = await world.create("google-forgotten");
  await until(async () => (await world.admin.find(secretKind, podSecretRef("google-forgotten"))) !== undefined, {
    deadlineMs: 30_000,
  });
  await forgetful.abandon();
  expect(ids()).toHaveLength(3);
  expect((await world.find("google-forgotten"))?.status).toBeUndefined();
  const { stop } = await world.startOperator({ onPorts: withGoogle });
  await world.delete(made);
  await world.expectGone(made);
  expect(ids()).toEqual([]);
  await stop();
}, 120_000);
