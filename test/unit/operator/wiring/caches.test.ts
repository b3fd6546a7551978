import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { argocdKinds } from "../../../../operator/adapters/argocd/kinds.ts";
import { type CacheSet, createCacheSet } from "../../../../operator/kit/cache/cache-set.ts";
import { createKubeClient } from "../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import type { Caches } from "../../../../operator/ports/caches.ts";
import { watchKinds } from "../../../../operator/wiring/dependencies.ts";
import {
  type Answer,
  type FakeApiServer,
  json,
  type SeenRequest,
  silence,
  startFakeApiServer,
  status,
} from "../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { until } from "../../../support/fixtures/until.ts";

let server: FakeApiServer;
let client: KubeClient;
let clock: TestClock;
let set: CacheSet;
let caches: Caches;

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig });
  clock = new TestClock();
  set = createCacheSet({ client, clock, log: silentLog });
  caches = watchKinds(set, "ephemeral-system", argocdKinds("argocd"));
});

afterEach(async () => {
  await set.stop();
  await client.close();
  await server.close();
});

const isStreamedList = ({ query }: SeenRequest) => query.get("sendInitialEvents") === "true";
const isWatch = ({ query }: SeenRequest) => query.get("watch") === "true";
const listsEnvironments = (request: SeenRequest) =>
  !isWatch(request) && request.path.endsWith("/ephemeralenvironments");
const opened: Answer = (_request, response) => {
  response.writeHead(200, { "content-type": "application/json" });
  response.flushHeaders();
};
const page = (next: string) => json({ metadata: { resourceVersion: "1", continue: next }, items: [] });

/** Answers the list of environments in this way, and every other list with nothing, in pages. */
function given(answer: Answer): void {
  server.on(isStreamedList, status(422, "Invalid"));
  server.on(isWatch, opened);
  server.on(listsEnvironments, answer);
  server.on(() => true, page(""));
  set.start();
}

describe("the watches are alive", () => {
  test("while a list of many slow pages comes in, also of empty ones", async () => {
    const seen: boolean[] = [];
    given((request, response) => {
      clock.advance(2_000);
      seen.push(set.alive);
      page(seen.length < 200 ? String(seen.length) : "")(request, response);
    });
    await until(() => caches.environments.synced);
    expect(clock.monotonicMs()).toBeGreaterThanOrEqual(400_000);
    expect(seen.filter((alive) => !alive)).toEqual([]);
  });

  test("no longer when one of them has done nothing for five minutes", async () => {
    given(silence);
    await until(() => server.seen.some(listsEnvironments));
    clock.advance(299_000);
    expect(set.alive).toBe(true);
    clock.advance(1_000);
    expect(set.alive).toBe(false);
  });
});

describe("without the deployer's kinds", () => {
  const isDeployers = ({ path }: SeenRequest) => path.includes("/argoproj.io/");

  test("the caches are complete when the kinds come, and say until then which are missing", async () => {
    let isInstalled = false;
    const notFound = status(404, "NotFound");
    server.on(
      (request) => !isInstalled && isDeployers(request),
      (request, response) => notFound(request, response),
    );
    given(page(""));
    await until(() => caches.environments.synced && set.missing.length === 2);
    expect([...set.missing].sort()).toEqual(["applications.argoproj.io", "appprojects.argoproj.io"]);
    expect(set.synced).toBe(false);
    isInstalled = true;
    await until(() => {
      clock.advanceToNext();
      return set.synced;
    });
    expect(set.missing).toEqual([]);
  });
});
