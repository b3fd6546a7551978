import { expect, test } from "@jest/globals";
import { prometheusMetrics } from "../../../../../operator/adapters/prometheus/metrics.ts";
import { until } from "../../../../support/fixtures/until.ts";
import { runningWorkerPools } from "../../kit/controller/running-worker-pools.ts";
import { scraped, scrapedOf } from "./scraped.ts";

const world = runningWorkerPools();

/** A pool of two workers whose reconciles end when and how the test says. */
function scene() {
  const metrics = prometheusMetrics();
  const begun = new Map<string, PromiseWithResolvers<void>>();
  const pool = world.started(
    (key) => {
      const gate = Promise.withResolvers<void>();
      begun.set(key, gate);
      return gate.promise;
    },
    { workers: 2, metrics: metrics.controllers },
  );
  const ends = async (key: string, error?: Error) => {
    await until(() => begun.has(key));
    if (error === undefined) begun.get(key)?.resolve();
    else begun.get(key)?.reject(error);
    begun.delete(key);
  };
  return { metrics, pool, ends, begun };
}

test("reconciles are counted by how they end, under the names of controller-runtime", async () => {
  const { metrics, pool, ends } = scene();
  expect(await scrapedOf(metrics, "controller_runtime_reconcile_errors_total")).toEqual({
    'controller_runtime_reconcile_errors_total{controller="test"}': 0,
  });
  expect(await scrapedOf(metrics, "controller_runtime_terminal")).toEqual({
    'controller_runtime_terminal_reconcile_errors_total{controller="test"}': 0,
  });
  for (const [key, error] of [
    ["done", undefined],
    ["failed", new Error("it failed")],
    ["bug", new TypeError("x is undefined")],
  ] as const) {
    pool.enqueue(key);
    await ends(key, error);
    await until(() => pool.inWork === 0);
  }
  const found = await scraped(metrics);
  const of = (name: string, more = "") => found.get(`controller_runtime_reconcile_${name}{controller="test"${more}}`);
  expect(of("total", ',result="success"')).toBe(1);
  expect(of("total", ',result="error"')).toBe(2);
  expect(of("total", ',result="requeue_after"')).toBe(0);
  expect([of("errors_total"), of("panics_total"), of("timeouts_total")]).toEqual([2, 1, 0]);
  expect(of("time_seconds_count")).toBe(3);
  const queue = '{name="test",controller="test"}';
  expect(found.get(`workqueue_adds_total${queue}`)).toBe(3);
  expect(found.get(`workqueue_retries_total${queue}`)).toBe(2);
  expect(found.get(`workqueue_work_duration_seconds_count${queue}`)).toBe(3);
});

test("what waits and what is in work is of the moment of the scrape", async () => {
  const { metrics, pool, ends, begun } = scene();
  pool.enqueue("first", "urgent");
  pool.enqueue("second");
  pool.enqueue("third", "low");
  await until(() => begun.size === 2);
  world.clock.advance(500);
  pool.enqueue("fourth");
  const at = (priority: string) => `workqueue_depth{name="test",controller="test",priority="${priority}"}`;
  const found = await scraped(metrics);
  expect(["urgent", "high", "low"].map((priority) => found.get(at(priority)))).toEqual([0, 1, 1]);
  expect(found.get('controller_runtime_active_workers{controller="test"}')).toBe(2);
  expect(found.get('controller_runtime_max_concurrent_reconciles{controller="test"}')).toBe(2);
  expect(found.get('workqueue_unfinished_work_seconds{name="test",controller="test"}')).toBe(1);
  expect(found.get('workqueue_longest_running_processor_seconds{name="test",controller="test"}')).toBe(0.5);
  for (const key of ["first", "second", "fourth", "third"]) await ends(key);
  await until(() => pool.inWork === 0);
  const waited = await scrapedOf(metrics, "workqueue_queue_duration_seconds_sum");
  // The third waited for half a second, the others not at all.
  expect(waited).toEqual({ 'workqueue_queue_duration_seconds_sum{name="test",controller="test"}': 0.5 });
});

test("the last success is known once there was one, and no error changes it", async () => {
  const { metrics, pool, ends } = scene();
  const name = "ephemeral_controller_last_success_timestamp_seconds";
  pool.enqueue("failed");
  await ends("failed", new Error("it failed"));
  await until(() => pool.inWork === 0);
  expect(await scrapedOf(metrics, name)).toEqual({});
  const before = Date.now() / 1000;
  pool.enqueue("done");
  await ends("done");
  await until(() => pool.inWork === 0);
  const found = (await scrapedOf(metrics, name))[`${name}{controller="test"}`] ?? 0;
  expect(found).toBeGreaterThanOrEqual(before);
  expect(found).toBeLessThanOrEqual(Date.now() / 1000);
});
