import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { MINUTE_MS } from "../../../../../crds/durations.ts";
import { argocd } from "../../../../../operator/adapters/argocd/argocd.ts";
import { kubernetesPlatformHealth } from "../../../../../operator/adapters/kubernetes/platform-health.ts";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import type { PlatformHealth } from "../../../../../operator/ports/api/platform-health.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  reset,
  silence,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { until } from "../../../../support/fixtures/until.ts";

const APPLICATIONS = "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications";
const ENVIRONMENTS = "/apis/ephemeral-environments.dev/v1/ephemeralenvironments";

let server: FakeApiServer;
let client: KubeClient;
let caches: { synced: boolean; oldestProgressMs: number };

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
  caches = { synced: true, oldestProgressMs: 0 };
});

afterEach(async () => {
  await client.close();
  await server.close();
});

const answer = (path: string, given: Answer) => server.on((request) => request.path === path, given);
const nothing = json({ metadata: { resourceVersion: "1" }, items: [] });

const healthBy = (clock: TestClock) =>
  kubernetesPlatformHealth({
    client,
    caches,
    clock,
    deployer: argocd({ namespace: "argocd", clusterServer: "" }).health(new Map()),
    circuitBreakers: () => [],
    expirationsBlocked: () => false,
  });

function check(): Promise<PlatformHealth> {
  return healthBy(new TestClock()).check();
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

describe("an answer", () => {
  test("serves all who ask within two seconds, whatever becomes of the wall clock", async () => {
    server.on(({ path }) => path === ENVIRONMENTS, nothing, reset);
    answer(APPLICATIONS, nothing);
    const clock = new TestClock();
    const { check: ask } = healthBy(clock);
    const isHealthy = async () => (await ask()).datastore.healthy;
    expect(await Promise.all([isHealthy(), isHealthy()])).toEqual([true, true]);
    clock.advance(1_999);
    expect(await isHealthy()).toBe(true);
    expect(server.seen).toHaveLength(2);
    clock.setBack(3_600_000);
    clock.advance(1);
    expect(await isHealthy()).toBe(false);
  });

  test("comes within two seconds, also when the API server says nothing", async () => {
    answer(ENVIRONMENTS, silence);
    answer(APPLICATIONS, silence);
    const clock = new TestClock();
    const requested = healthBy(clock).check();
    await until(() => server.seen.length === 2, { what: "both questions" });
    clock.advance(2_000);
    const { datastore, deployer } = await requested;
    expect([datastore.healthy, datastore.responseTimeMs, deployer.healthy]).toEqual([false, 2_000, false]);
  });
});
