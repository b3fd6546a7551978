import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { ApiToken } from "../../../../../crds/api-token.ts";
import { ClusterUnavailable, ConfigInvalid } from "../../../../../crds/errors.ts";
import { kubernetesApiTokens } from "../../../../../operator/adapters/kubernetes/api-tokens.ts";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import type { CacheFeed, ObjectCache } from "../../../../../operator/kit/cache/object-cache.ts";
import { createKubeClient } from "../../../../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../../../../operator/kit/client/kube-client.ts";
import { keyOf } from "../../../../../operator/kit/client/objects.ts";
import { ownDeletions } from "../../../../../operator/kit/client/own-deletions.ts";
import type { ApiTokens } from "../../../../../operator/ports/api-tokens.ts";
import { BY_OWNER } from "../../../../../operator/ports/caches.ts";
import {
  type FakeApiServer,
  json,
  silence,
  startFakeApiServer,
  status,
} from "../../../../support/doubles/fake-api-server.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { apiTokenFixture } from "../../../../support/fixtures/api-token-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";
import { until } from "../../../../support/fixtures/until.ts";

let server: FakeApiServer;
let client: KubeClient;
let clock: TestClock;
let cache: ObjectCache<ApiToken> & CacheFeed<ApiToken>;
let apiTokens: ApiTokens;

beforeEach(async () => {
  server = await startFakeApiServer();
  client = createKubeClient({ kubeConfig: server.kubeConfig, random: () => 0 });
  clock = new TestClock();
  const indexes = { [BY_OWNER]: ({ spec }: ApiToken) => [spec.owner.subject] };
  cache = createObjectCache<ApiToken>({ log: silentLog, clock, indexes });
  apiTokens = kubernetesApiTokens({ deletions: ownDeletions(), client, cache, namespace: "ephemeral-system", clock });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const id = (guess: number) => guess.toString(16).padStart(40, "0");
const readAll = (count: number, from = 0) =>
  Promise.all(Array.from({ length: count }, (_, guess) => apiTokens.readClaimed(id(from + guess))));

describe("what is said of an owner, when the API server finds it invalid,", () => {
  const said = { groups: ["a"], at: "2026-06-01T12:00:00.000Z" };
  const known = (at: string, uid?: string) => {
    const { metadata, ...token } = apiTokenFixture({ assertedClaims: { groups: [], at } });
    return { ...token, metadata: { ...metadata, ...(uid === undefined ? {} : { uid }) } };
  };

  test.each([
    { name: "came too late where something newer is known", current: known("2026-06-01T12:00:01.000Z") },
    { name: "is of no token where the token is another one", current: known("2026-06-01T11:00:00.000Z", "uid-2") },
  ])("$name", async ({ current }) => {
    server.on(({ method }) => method === "PATCH", status(422, "Invalid"));
    server.on(() => true, json(current));
    await apiTokens.storeAssertion(apiTokenFixture(), said);
  });

  test("is an error where nothing newer is known, or a group that was lost would be kept in silence", async () => {
    server.on(({ method }) => method === "PATCH", status(422, "Invalid"));
    server.on(() => true, json(known("2026-06-01T11:00:00.000Z")));
    await expect(apiTokens.storeAssertion(apiTokenFixture(), said)).rejects.toBeInstanceOf(ConfigInvalid);
  });
});

describe("a live read", () => {
  test("of ids that the watch does not know is asked a bounded number of times, however often they are guessed", async () => {
    await cache.replace({ items: new Map(), resourceVersion: "1" }, cache.beginList());
    server.on(() => true, status(404, "NotFound"));
    expect(await readAll(500)).toEqual(Array.from({ length: 500 }, () => undefined));
    expect(server.seen.length).toBe(60);
    clock.advance(1_000);
    await readAll(100, 500);
    expect(server.seen.length).toBe(65);
  });

  test("takes no token for unknown before the watch has begun to know", async () => {
    server.on(() => true, status(404, "NotFound"));
    await readAll(60);
    await expect(apiTokens.readClaimed(id(60))).rejects.toBeInstanceOf(ClusterUnavailable);
  });

  test("of one that the watch knows is always asked", async () => {
    const token = apiTokenFixture();
    await cache.replace({ items: new Map([[keyOf(token), token]]), resourceVersion: "1" }, cache.beginList());
    server.on(({ path }) => path.endsWith(token.metadata.name), json(token));
    server.on(() => true, status(404, "NotFound"));
    await readAll(100);
    for (let round = 0; round < 3; round += 1) expect(await apiTokens.readClaimed(token.metadata.name)).toEqual(token);
  });

  test("for a known owner is asked, however many others guess", async () => {
    await cache.replace({ items: new Map(), resourceVersion: "1" }, cache.beginList());
    const token = apiTokenFixture();
    server.on(({ path }) => path.endsWith(token.metadata.name), json(token));
    server.on(() => true, status(404, "NotFound"));
    await readAll(100);
    expect(await apiTokens.readClaimed(token.metadata.name)).toBeUndefined();
    expect(await apiTokens.read(token.metadata.name)).toEqual(token);
  });

  test("that takes more than two seconds is none", async () => {
    server.on(() => true, silence);
    const reading = apiTokens.read(id(1)).catch((error: unknown) => error);
    await until(() => clock.pending.includes(2_000), { what: "the deadline" });
    clock.advance(2_000);
    expect(await reading).toBeInstanceOf(ClusterUnavailable);
  });
});
