import { afterAll, expect, test } from "@jest/globals";
import { KubeConfig } from "@kubernetes/client-node";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { snapshotOf } from "../../support/plane/etcd.ts";

const plane = await controlPlane();
const namespace = "default";
const COUNT = 40;
const kubeConfig = new KubeConfig();
kubeConfig.loadFromFile(plane.kubeconfigPath);
const client = createKubeClient({ kubeConfig, userAgent: "restored-cluster-test" });
afterAll(() => client.close());

test("a restored cluster has a version for each removed object: a watch that continues between two misses none", async () => {
  const snapshot = await snapshotOf(plane.etcdSocket);
  for (let count = 0; count < COUNT; count += 1) {
    await client.create(configMaps, { metadata: { name: `left-${count}`, namespace } });
  }
  const { resourceVersion } = await client.list(configMaps, { namespace });
  await snapshot.restore();

  const versions = new Set<string>();
  let removed = 0;
  const start = { namespace, resourceVersion, timeoutSeconds: 30, signal: AbortSignal.timeout(30_000) };
  for await (const { type, object } of client.watch(configMaps, start)) {
    if (type !== "DELETED") continue;
    removed += 1;
    versions.add(object.metadata.resourceVersion);
    if (removed === COUNT) break;
  }
  expect([removed, versions.size]).toEqual([COUNT, COUNT]);
}, 60_000);
