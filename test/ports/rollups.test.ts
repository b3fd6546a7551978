import { expect, test } from "@jest/globals";
import { sumOfSummaries } from "../../crds/usage/period-summary.ts";
import type { Rollup } from "../../crds/usage/rollup.ts";
import { watchedRollups } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRollupStore, watchedRollupDays } from "../../operator/adapters/kubernetes/records/rollups.ts";
import { createCacheSet } from "../../operator/kit/cache/cache-set.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { configMapKind } from "../../operator/kit/client/kinds.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import { createRecorder } from "../../operator/rollups/recorder.ts";
import { LARGEST_DAY, largestSlots, largestSummary } from "../support/doubles/memory/costs/largest-rollup.ts";
import { memoryRollupStore } from "../support/doubles/memory/costs/rollups.ts";
import { TestClock } from "../support/doubles/test-clock.ts";
import { kubeConfigOf } from "../support/fixtures/kube-config.ts";
import { silentLog } from "../support/fixtures/silent-log.ts";
import { until } from "../support/fixtures/until.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { rollupsSuite } from "./suites/rollups.suite.ts";

const plane = await controlPlane();
const namespace = "ephemeral-system";
const connected = () => createKubeClient({ kubeConfig: kubeConfigOf(plane, plane.platform.token) });
const { signal } = new AbortController();

rollupsSuite("on Kubernetes", async () => {
  const client = connected();
  const store = kubernetesRollupStore({ client, namespace });
  return {
    store,
    async stop() {
      for (const rollup of await store.list(signal)) await store.remove(rollup);
      await client.close();
    },
  };
});

rollupsSuite("in memory", async () => ({ store: memoryRollupStore(), stop: async () => undefined }));

test("are seen by every replica", async () => {
  const client = connected();
  const store = kubernetesRollupStore({ client, namespace });
  const replaced = async (change: Partial<Rollup>) => {
    const former = await store.find("2025-12-31");
    expect(former !== undefined && (await store.replace(former, { ...former, ...change }))).toBe(true);
  };
  const watches = createCacheSet({ client, log: silentLog, clock: systemClock });
  const rollups = watchedRollupDays(watches.watch(watchedRollups(namespace)));
  watches.start();
  await watches.whenSynced(AbortSignal.timeout(20_000));
  await store.create("2025-12-31", { slots: { "23:55": { requests: 7 } }, writers: {} });
  await until(() => rollups.days().length === 1);
  expect(rollups.days()).toMatchObject([{ day: "2025-12-31", slots: { "23:55": { requests: 7 } } }]);
  const before = rollups.summaryRevision;
  await replaced({ slots: { "23:55": { requests: 8 } } });
  await until(() => rollups.days()[0]?.slots["23:55"]?.requests === 8);
  expect(rollups.summaryRevision).toBe(before);
  await replaced({ summary: sumOfSummaries([]) });
  await until(() => rollups.summaryRevision > before);
  expect(rollups.days()).toMatchObject([{ slots: { "23:55": { requests: 8 } }, summary: { peak: 0 } }]);
  for (const rollup of await store.list(signal)) await store.remove(rollup);
  await until(() => rollups.days().length === 0);
  await watches.stop();
  await client.close();
});

test("the largest day there can be is stored in less than 512 KiB, and found as it was", async () => {
  const client = connected();
  const store = kubernetesRollupStore({ client, namespace });
  // A host's name is 63 characters long at most; processes that ended within minutes.
  const memory = memoryRollupStore();
  const clock = new TestClock(`${LARGEST_DAY}T23:00:00.000Z`);
  for (let index = 0; index < 400; index += 1) {
    const recorder = createRecorder({ store: memory, writer: `${index}-`.padEnd(72, "x"), clock, log: silentLog });
    recorder.count("requests");
    await recorder.flush();
    clock.advance(1_000);
  }
  const { writers = {} } = (await memory.find(LARGEST_DAY)) ?? {};
  const summary = await largestSummary();
  expect(summary?.by.creator.size).toBeGreaterThan(50);
  const content = { slots: largestSlots(), writers, summary };
  expect(await store.create(LARGEST_DAY, content)).toBe(true);
  const found = await store.find(LARGEST_DAY);
  expect(found).toMatchObject({ slots: content.slots, writers });
  expect(found?.summary).toEqual(summary);
  const ref = { name: `rollup-${LARGEST_DAY}`, namespace };
  const configMap = (await client.find(configMapKind, ref)) as { readonly data?: Record<string, string> } | undefined;
  const bytes = Object.values(configMap?.data ?? {}).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  expect(bytes).toBeGreaterThan(200 * 1024);
  expect(bytes).toBeLessThan(512 * 1024);
  if (found !== undefined) await store.remove(found);
  await client.close();
});
