import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { KubeConfig } from "@kubernetes/client-node";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient, WatchEvent } from "../../../operator/kit/client/kube-client.ts";
import { type ConfigMap, configMaps } from "../../support/fixtures/config-maps.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const plane = await controlPlane();

const namespace = "default";
const suite = `kit-client-${randomUUID().slice(0, 8)}`;
const labelSelector = `suite=${suite}`;
let client: KubeClient;
let made = 0;

beforeAll(() => {
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(plane.kubeconfigPath);
  client = createKubeClient({ kubeConfig, userAgent: "kit-test" });
});

afterAll(async () => {
  for (const { metadata } of (await client.list(configMaps, { namespace, labelSelector })).items) {
    if (metadata.finalizers !== undefined)
      await client.patch(configMaps, metadata, { metadata: { finalizers: null } }, { as: "merge" });
    await client.delete(configMaps, metadata);
  }
  await client.close();
});

function create(more: { readonly finalizers?: readonly string[] } = {}): Promise<ConfigMap> {
  made += 1;
  const metadata = { name: `${suite}-${made}`, namespace, labels: { suite }, ...more };
  return client.create(configMaps, { metadata, data: { key: "1" } });
}

const refused = (call: Promise<unknown>) => call.catch((error: unknown) => error);

test("an object lives from create to gone", async () => {
  const object = await create();
  expect(await client.find(configMaps, object.metadata)).toEqual(object);
  const patched = await client.patch(configMaps, object.metadata, { data: { key: "2" } }, { as: "merge" });
  expect(patched.data).toEqual({ key: "2" });
  const jsonPatch = [
    { op: "test", path: "/data/key", value: "2" },
    { op: "replace", path: "/data/key", value: "3" },
  ];
  expect((await client.patch(configMaps, object.metadata, jsonPatch, { as: "json" })).data).toEqual({ key: "3" });
  expect(await client.delete(configMaps, object.metadata, { uid: object.metadata.uid })).toBe("gone");
  expect(await client.find(configMaps, object.metadata)).toBeUndefined();
  expect(await client.delete(configMaps, object.metadata)).toBe("gone");
});

test("a finalizer keeps a deleted object, and delete answers it", async () => {
  const object = await create({ finalizers: ["kit.test/held"] });
  const left = await client.delete(configMaps, object.metadata);
  expect(left).toMatchObject({ metadata: { uid: object.metadata.uid, deletionTimestamp: expect.any(String) } });
});

describe("preconditions", () => {
  test("another uid is a conflict, and nothing is deleted", async () => {
    const { metadata } = await create();
    expect(await refused(client.delete(configMaps, metadata, { uid: randomUUID() }))).toMatchObject({
      status: 409,
      reason: "Conflict",
    });
    expect(await client.find(configMaps, metadata)).toBeDefined();
  });

  test("a stale version is a conflict for replace and delete", async () => {
    const object = await create();
    await client.patch(configMaps, object.metadata, { data: { key: "2" } }, { as: "merge" });
    const { resourceVersion } = object.metadata;
    expect(await refused(client.replace(configMaps, object))).toMatchObject({ reason: "Conflict" });
    expect(await refused(client.delete(configMaps, object.metadata, { resourceVersion }))).toMatchObject({
      reason: "Conflict",
    });
  });

  test("a taken name is distinguished from a conflict", async () => {
    const { metadata } = await create();
    const again = client.create(configMaps, { metadata: { name: metadata.name, namespace } });
    expect(await refused(again)).toMatchObject({ status: 409, reason: "AlreadyExists" });
  });
});

test("an unknown field is refused, and nothing is made", async () => {
  const name = `${suite}-strict`;
  const draft = { metadata: { name, namespace }, dta: {} };
  expect(await refused(client.create(configMaps, draft as never))).toMatchObject({ status: 400 });
  expect(await client.find(configMaps, { name, namespace })).toBeUndefined();
});

test("pages make one list", async () => {
  await Promise.all([create(), create(), create(), create(), create()]);
  const whole = await client.list(configMaps, { namespace, labelSelector });
  const paged = await client.list(configMaps, { namespace, labelSelector, limit: 2 });
  expect(paged.items).toEqual(whole.items);
  expect(paged.items.every(({ kind, apiVersion }) => kind === "ConfigMap" && apiVersion === "v1")).toBe(true);
});

test("a watch delivers what came after its version", async () => {
  const { resourceVersion } = await client.list(configMaps, { namespace, labelSelector });
  const stopping = new AbortController();
  const object = await create();
  const events: WatchEvent<ConfigMap>[] = [];
  const options = { namespace, labelSelector, resourceVersion, timeoutSeconds: 10, signal: stopping.signal };
  for await (const event of client.watch(configMaps, options)) {
    events.push(event);
    if (event.object.metadata.name === object.metadata.name) stopping.abort();
  }
  expect(events.at(-1)).toEqual({ type: "ADDED", object });
});

test("the server's time and its plain text can be read", async () => {
  expect(Math.abs((await client.serverTime()).getTime() - Date.now())).toBeLessThan(5_000);
  expect(await client.text("/readyz", { verbose: "" }, { limitBytes: 7 })).toBe("[+]ping");
});
