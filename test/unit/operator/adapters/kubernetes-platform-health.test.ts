import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { WatchedKinds } from "../../../../operator/adapters/kubernetes-cluster.ts";
import { kubernetesPlatformHealth } from "../../../../operator/adapters/kubernetes-platform-health.ts";
import { createKubeClient, type KubeClient } from "../../../../operator/kit/kube-client.ts";
import type { PlatformHealth } from "../../../../operator/ports/platform-health.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  reset,
  startFakeApiServer,
  status,
} from "../../../support/fake-api-server.ts";
import { TestClock } from "../../../support/test-clock.ts";

const APPLICATIONS = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications";
const ENVIRONMENTS = "/apis/ephemeral-environments.dev/v1/ephemeralenvironments";
const MINUTE_MS = 60_000;

let server: FakeApiServer;
let client: KubeClient;
let caches: { synced: boolean; oldestProgressMs: number; children: WatchedKinds };

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
  caches = { synced: true, oldestProgressMs: 0, children: new Map() };
});

afterEach(async () => {
  await client.close();
  await server.close();
});

const answer = (path: string, given: Answer) => server.on((request) => request.path === path, given);
const nothing = json({ metadata: { resourceVersion: "1" }, items: [] });

function check(): Promise<PlatformHealth> {
  return kubernetesPlatformHealth({ client, caches, deployerNamespace: "argocd", clock: new TestClock() }).check();
}

describe("the deployer", () => {
  beforeEach(() => answer(ENVIRONMENTS, nothing));

  test("is healthy when its kind is served, also without any application; one is asked for at most", async () => {
    answer(APPLICATIONS, nothing);
    expect((await check()).deployer).toMatchObject({ healthy: true, applicationsSynced: 0 });
    expect(server.seen.find(({ path }) => path === APPLICATIONS)?.query.get("limit")).toBe("1");
  });

  test("is not healthy where it was never installed: its kind is unknown", async () => {
    answer(APPLICATIONS, status(404, "NotFound"));
    const health = await check();
    expect([health.deployer.healthy, health.datastore.healthy]).toEqual([false, true]);
  });
});

describe("the cache", () => {
  beforeEach(() => {
    answer(ENVIRONMENTS, nothing);
    answer(APPLICATIONS, nothing);
  });

  test.each([
    { name: "every watch was heard of lately", synced: true, oldestProgressMs: MINUTE_MS, expected: true },
    {
      name: "a watch has been silent for three minutes",
      synced: true,
      oldestProgressMs: 3 * MINUTE_MS,
      expected: false,
    },
    { name: "a watch never began", synced: false, oldestProgressMs: Number.POSITIVE_INFINITY, expected: false },
    { name: "a list is still missing", synced: false, oldestProgressMs: 0, expected: false },
  ])("$name: healthy is $expected", async ({ synced, oldestProgressMs, expected }) => {
    Object.assign(caches, { synced, oldestProgressMs });
    const ageMs = synced ? oldestProgressMs : Number.POSITIVE_INFINITY;
    expect((await check()).cache).toMatchObject({ healthy: expected, ageMs });
  });
});

test("an API server without its database makes the datastore unhealthy: what is not stored it still answers", async () => {
  answer("/version", json({ major: "1" }));
  answer(ENVIRONMENTS, status(500, "InternalError"));
  answer(APPLICATIONS, status(500, "InternalError"));
  const health = await check();
  expect([health.datastore.healthy, health.deployer.healthy]).toEqual([false, false]);
});

test("an API server that is gone makes the datastore and the deployer unhealthy, never an error", async () => {
  answer(ENVIRONMENTS, reset);
  answer(APPLICATIONS, reset);
  const health = await check();
  expect([health.datastore.healthy, health.deployer.healthy]).toEqual([false, false]);
});
