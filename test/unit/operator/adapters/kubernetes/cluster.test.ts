import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { ownerLabels } from "../../../../../crds/group.ts";
import { kubernetesCluster } from "../../../../../operator/adapters/kubernetes/cluster.ts";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import {
  limitRangeKind,
  namespaceKind,
  serviceAccountKind,
  type WireObject,
} from "../../../../../operator/kit/client/kinds.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../../../operator/kit/time/clock.ts";
import { type FakeApiServer, json, startFakeApiServer, status } from "../../../../support/doubles/fake-api-server.ts";

const owner = { name: "shop", uid: "ffffffff-1111-4222-8333-444455556666" };
const namespace = "env-shop";
const desired = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "environment", namespace }, spec: {} };

let server: FakeApiServer;
let client: KubeClient;
beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

function cacheOf(...objects: readonly object[]) {
  const cache = createObjectCache<WireObject>();
  for (const object of objects) cache.upsert(object as WireObject);
  return cache;
}

test("what looks older than its namespace is asked for once, and believed when it is there: clocks of API servers differ", async () => {
  const meta = { uid: "u-1", resourceVersion: "7", labels: ownerLabels(owner) };
  const found = { ...desired, metadata: { ...desired.metadata, ...meta, creationTimestamp: "2026-01-01T00:00:00Z" } };
  const home = { name: namespace, uid: "n-1", resourceVersion: "8", creationTimestamp: "2026-01-01T00:00:01Z" };
  const watched = new Map([
    [namespaceKind.plural, cacheOf({ apiVersion: "v1", kind: "Namespace", metadata: home })],
    [limitRangeKind.plural, cacheOf(found)],
  ]);
  server.on(({ method }) => method === "POST", status(409, "AlreadyExists"));
  server.on(({ method }) => method === "GET", json(found));
  const cluster = kubernetesCluster({ client, watched, clock: systemClock });
  expect(await cluster.ensure(owner, limitRangeKind, desired)).toBe("unchanged");
  const requested = server.seen.length;
  expect(requested).toBeGreaterThan(0);
  expect(await cluster.ensure(owner, limitRangeKind, desired)).toBe("unchanged");
  expect(server.seen).toHaveLength(requested);
});

test("an adopted object that looks older than its namespace is written once, too", async () => {
  const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace } };
  const meta = { uid: "u-1", resourceVersion: "9", labels: ownerLabels(owner) };
  const old = { ...account, metadata: { ...account.metadata, ...meta, creationTimestamp: "2026-01-01T00:00:00Z" } };
  const home = { name: namespace, uid: "n-1", resourceVersion: "8", creationTimestamp: "2026-01-01T00:00:01Z" };
  const ofOwner = { ...home, labels: ownerLabels(owner) };
  const watched = new Map([
    [namespaceKind.plural, cacheOf({ apiVersion: "v1", kind: "Namespace", metadata: ofOwner })],
    [serviceAccountKind.plural, cacheOf()],
  ]);
  server.on(({ method }) => method === "PATCH", json(old));
  const cluster = kubernetesCluster({ client, watched, clock: systemClock });
  expect(await cluster.adopt(owner, serviceAccountKind, account)).toBe("written");
  expect(await cluster.adopt(owner, serviceAccountKind, account)).toBe("unchanged");
  expect(server.seen).toHaveLength(1);
});

test("a finalizer is removed although the object changes between read and write: no call follows a forced step", async () => {
  const version = (resourceVersion: string, finalizers: readonly string[]) => ({
    ...desired,
    metadata: { ...desired.metadata, uid: "u-1", resourceVersion, labels: ownerLabels(owner), finalizers },
  });
  const [ours, foreign] = ["ours.test/a", "foreign.test/b"];
  server.on(({ method }) => method === "GET", json(version("1", [ours, foreign])), json(version("2", [foreign, ours])));
  server.on(({ method }) => method === "PATCH", status(409, "Conflict"), json(version("3", [foreign])));
  const cluster = kubernetesCluster({ client, watched: new Map(), clock: systemClock });
  await cluster.release(owner, limitRangeKind, { name: "environment", namespace }, [ours]);
  const patches = server.seen.filter(({ method }) => method === "PATCH").map(({ body }) => JSON.parse(body));
  expect(patches.map((patch) => JSON.stringify(patch).includes('"2"'))).toEqual([false, true]);
});
