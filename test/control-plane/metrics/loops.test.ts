import { afterAll, beforeAll, test } from "@jest/globals";
import { prometheusMetrics } from "../../../operator/adapters/prometheus/metrics.ts";
import { COLLECTIONS } from "../../../operator/controllers/garbage-collection/reconcile.ts";
import { until } from "../../support/fixtures/until.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

/** The storing of counts begins after ten seconds. */
const DEADLINE_MS = 60_000;

let world: World;
beforeAll(async () => {
  world = await createWorld();
}, 180_000);
afterAll(() => world.stop(), 60_000);

test("every background loop of the leader reports its last success", async () => {
  const metrics = prometheusMetrics();
  // The first collections are due at once.
  await world.startOperator({ metrics, random: () => 0 });
  const missing = async () => {
    const { text } = await metrics.scrape();
    const name = "ephemeral_loop_last_success_timestamp_seconds";
    return [...COLLECTIONS, "request counts"].filter((loop) => !text.includes(`${name}{loop="${loop}"}`));
  };
  await until(async () => (await missing()).length === 0, { what: "all loops' success", deadlineMs: DEADLINE_MS });
}, 120_000);
