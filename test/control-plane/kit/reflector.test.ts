import { afterAll, afterEach, beforeAll, beforeEach, expect, jest, test } from "@jest/globals";
import { createObjectCache } from "../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../operator/kit/cache/object-cache.ts";
import { createReflector, type Reflector } from "../../../operator/kit/cache/reflector.ts";
import { createKubeClient } from "../../../operator/kit/client/create-kube-client.ts";
import { KubeError } from "../../../operator/kit/client/errors.ts";
import type { KubeClient } from "../../../operator/kit/client/kube-client.ts";
import { keyOf } from "../../../operator/kit/client/objects.ts";
import { type ConfigMap, configMaps } from "../../support/fixtures/config-maps.ts";
import { kubeConfigOf } from "../../support/fixtures/kube-config.ts";
import { type LogLine, recordedLog } from "../../support/fixtures/recorded-log.ts";
import { until } from "../../support/fixtures/until.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";

const plane = await controlPlane();

jest.setTimeout(180_000);

const namespace = "default";
const labelSelector = "suite=reflector";
let writer: KubeClient;
let reader: KubeClient;
let isCut: boolean;
let pages: number;
let cache: ObjectCache<ConfigMap> & CacheFeed<ConfigMap>;
let reflector: Reflector;
/** Lines of the reflector that was started last. */
let logged: readonly LogLine[];
let made = 0;

beforeAll(() => {
  const kubeConfig = kubeConfigOf(plane, plane.adminToken);
  writer = createKubeClient({ kubeConfig });
  reader = createKubeClient({
    kubeConfig,
    onRequest: ({ verb }, next) => {
      if (verb === "list") pages += 1;
      return isCut ? Promise.reject(new KubeError({ status: 0, reason: "Unreachable" })) : next();
    },
  });
});

afterAll(() => Promise.all([writer.close(), reader.close()]));

beforeEach(() => {
  isCut = false;
  pages = 0;
  cache = createObjectCache<ConfigMap>();
  reflector = reflect(reader, cache);
});

afterEach(() => reflector.stop());

function reflect(client: KubeClient, into: ObjectCache<ConfigMap> & CacheFeed<ConfigMap>): Reflector {
  const where = { client, type: configMaps, cache: into, namespace, labelSelector };
  const { log, lines } = recordedLog();
  logged = lines;
  const made = createReflector({ ...where, log, random: () => 0 });
  made.start();
  return made;
}

const reasons = () => logged.filter(({ message }) => message === "a list begins").map(({ reason }) => reason);

function create(): Promise<ConfigMap> {
  made += 1;
  const metadata = { name: `reflected-${made}`, namespace, labels: { suite: "reflector" } };
  return writer.create(configMaps, { metadata, data: { key: "1" } });
}

async function isEqualToTheServer(): Promise<boolean> {
  const { items } = await writer.list(configMaps, { namespace, labelSelector });
  const versions = (objects: readonly ConfigMap[]) =>
    objects.map((object) => `${keyOf(object)} ${object.metadata.resourceVersion}`).sort();
  return JSON.stringify(versions(items)) === JSON.stringify(versions(cache.list()));
}

const converged = () =>
  until(isEqualToTheServer, { deadlineMs: 40_000, what: "the cache's agreement with the server" });

test("has the beginning streamed, all of it", async () => {
  await reflector.stop();
  await Promise.all(Array.from({ length: 20 }, create));
  cache = createObjectCache<ConfigMap>();
  reflector = reflect(reader, cache);
  await cache.whenSynced(AbortSignal.timeout(10_000));
  expect(await isEqualToTheServer()).toBe(true);
  expect([pages, reasons()]).toEqual([0, ["start"]]);
});

test("follows what is made, changed and deleted", async () => {
  await cache.whenSynced(AbortSignal.timeout(10_000));
  const kept = await create();
  const dropped = await create();
  await until(() => cache.get(keyOf(dropped)));
  await writer.patch(configMaps, kept.metadata, { data: { key: "2" } }, { as: "merge" });
  await writer.delete(configMaps, dropped.metadata);
  await until(() => cache.get(keyOf(kept))?.data?.key === "2" && cache.get(keyOf(dropped)) === undefined);
  expect(reasons()).toEqual(["start"]);
});

test("follows what leaves the selection and comes back", async () => {
  await cache.whenSynced(AbortSignal.timeout(10_000));
  const object = await create();
  const relabel = (suite: string | null) =>
    writer.patch(configMaps, object.metadata, { metadata: { labels: { suite } } }, { as: "merge" });
  await until(() => cache.get(keyOf(object)));
  for (let round = 0; round < 2; round += 1) {
    await relabel(null);
    await until(() => cache.get(keyOf(object)) === undefined);
    const { metadata } = await relabel("reflector");
    await until(() => cache.get(keyOf(object))?.metadata.resourceVersion === metadata.resourceVersion);
  }
  await writer.delete(configMaps, object.metadata);
  await until(() => cache.get(keyOf(object)) === undefined);
  expect(reasons()).toEqual(["start"]);
});

test("a successor finds what was deleted without a watch", async () => {
  const object = await create();
  await until(() => cache.get(keyOf(object)));
  await reflector.stop();
  await writer.delete(configMaps, object.metadata);
  const heard: string[] = [];
  cache.subscribe((key, current) => heard.push(`${key} ${current === undefined ? "ended" : "lives"}`));
  reflector = reflect(reader, cache);
  await until(() => cache.get(keyOf(object)) === undefined);
  expect(heard).toContain(`${keyOf(object)} ended`);
});

test("no reader sees an older version than was written, under load", async () => {
  await cache.whenSynced(AbortSignal.timeout(10_000));
  const objects = await Promise.all(Array.from({ length: 10 }, create));
  let stale = 0;
  const writeOften = async (object: ConfigMap) => {
    for (let round = 0; round < 20; round += 1) {
      const written = await writer.patch(
        configMaps,
        object.metadata,
        { data: { key: String(round) } },
        { as: "merge" },
      );
      cache.written(written);
      await new Promise((resolve) => setImmediate(resolve));
      if (cache.get(keyOf(object))?.data?.key !== String(round)) stale += 1;
    }
  };
  await Promise.all(objects.map(writeOften));
  await until(() => cache.oldestUnconfirmedMs() === undefined);
  expect(stale).toBe(0);
  expect(reasons()).toEqual(["start"]);
});

test("survives a restart of the API server", async () => {
  const before = await create();
  await until(() => cache.get(keyOf(before)));
  await plane.restart("kube-apiserver");
  const after = await create();
  await until(() => cache.get(keyOf(after)), { deadlineMs: 40_000 });
  await converged();
});

test("lists again when its version has left the server's memory, and reports what ended meanwhile", async () => {
  const [kept, dropped] = [await create(), await create()];
  await until(() => cache.get(keyOf(dropped)));
  const ended: string[] = [];
  cache.subscribe((key, current) => {
    if (current === undefined) ended.push(key);
  });
  // The first restart ends the current watch, the second makes the server forget the events since.
  isCut = true;
  await plane.restart("kube-apiserver");
  await writer.delete(configMaps, dropped.metadata);
  await writer.patch(configMaps, kept.metadata, { data: { key: "2" } }, { as: "merge" });
  await plane.restart("kube-apiserver");
  await writer.patch(configMaps, kept.metadata, { data: { key: "3" } }, { as: "merge" });
  isCut = false;
  await until(() => cache.get(keyOf(kept))?.data?.key === "3", { deadlineMs: 40_000 });
  expect(cache.get(keyOf(dropped))).toBeUndefined();
  expect(ended).toEqual([keyOf(dropped)]);
  expect(reasons()).toEqual(["start", "expired"]);
  await converged();
});
