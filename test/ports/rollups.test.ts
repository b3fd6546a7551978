import { expect, test } from "@jest/globals";
import { watchedRollups } from "../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRollupStore, watchedRollupDays } from "../../operator/adapters/kubernetes/records/rollups.ts";
import { createCacheSet } from "../../operator/kit/cache/cache-set.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import { silentLog } from "../../operator/kit/log.ts";
import { systemClock } from "../../operator/kit/time/clock.ts";
import type { RollupContent } from "../../operator/ports/observability/rollups.ts";
import { sumOfSummaries } from "../../operator/ports/observability/summary.ts";
import { memoryRollupStore } from "../support/doubles/memory/rollups.ts";
import { until } from "../support/fixtures/until.ts";
import { controlPlane } from "../support/plane/control-plane.ts";
import { kubeConfigOf } from "../support/plane/kube-config.ts";
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
  const replaced = async (change: Partial<RollupContent>) => {
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
  const before = { revision: rollups.revision, summaryRevision: rollups.summaryRevision };
  await replaced({ slots: { "23:55": { requests: 8 } } });
  await until(() => rollups.revision > before.revision);
  expect(rollups.summaryRevision).toBe(before.summaryRevision);
  await replaced({ summary: sumOfSummaries([]) });
  await until(() => rollups.summaryRevision > before.summaryRevision);
  expect(rollups.days()).toMatchObject([{ slots: { "23:55": { requests: 8 } }, summary: { peak: 0 } }]);
  for (const rollup of await store.list(signal)) await store.remove(rollup);
  await until(() => rollups.days().length === 0);
  await watches.stop();
  await client.close();
});
