import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { settingsFrom } from "../../../config/settings.ts";
import { isCanary } from "../../../crds/environment/managed-by.ts";
import { environmentType, recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import type { ControllerDependencies } from "../../../operator/controllers/index.ts";
import { clockAhead } from "../../support/faults/skewed-clock.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { COMMIT, createWorld, type World } from "../../support/worlds/environment-world.ts";

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);

const NAMESPACE = "ephemeral-system";
const canaries = async () => (await world.admin.list(environmentType)).items.filter(isCanary);
const records = async () => (await world.admin.list(recordType, { namespace: NAMESPACE })).items;
const recorded = (count: number) =>
  until(async () => (await records()).filter(isCanary).length === count, {
    what: `${count} recorded canaries`,
    deadlineMs: 60_000,
  });

test("a canary is made, deleted once it is ready, and made again when the next one is due, also by the next leader", async () => {
  await world.register("canary-backend");
  const settings = settingsFrom({ ...testSettings, canary: { repository: "canary-backend", everyMinutes: 5 } });
  const repositoryHost = { head: async () => COMMIT };
  const onPorts = (context: ControllerDependencies) => ({ ...context, repositoryHost });
  const first = await world.startOperator({ settings, onPorts });
  await recorded(1);
  const [record] = await records();
  expect(record?.spec).toMatchObject({ reason: "deleted", trigger: { kind: "canary" }, phase: "ready" });
  expect(record?.spec.readyAt).toBeDefined();

  await first.stop();
  // The next one is due five minutes after the first.
  await world.startOperator({ settings, onPorts, clock: clockAhead(0.1) });
  await recorded(2);
  const [one, other] = (await records()).map(({ spec }) => Date.parse(spec.createdAt)).sort();
  expect(one).toBeLessThan(other ?? 0);
  await until(async () => (await canaries()).length === 0, { what: "no canary left", deadlineMs: 60_000 });
}, 240_000);
