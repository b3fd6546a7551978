import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { secretKind } from "../../../operator/kit/client/kinds.ts";
import type { AuditRecord } from "../../../operator/ports/audit-trail.ts";
import { COMMIT, createWorld, podSecretRef, type World } from "../../support/fixtures/environment-world.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { type HttpsServer, startHttpsServer } from "../../support/http/https-server.ts";
import { AUDIENCE, startTokenIssuer, type TokenIssuer } from "../../support/http/token-issuer.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";

/** Enough that every kill meets some under way, and few enough for two cores. */
const CREATIONS = 24;
const CLIENTS = 8;

let world: World;
let ingress: HttpsServer;
let issuer: TokenIssuer;
let bearer: string;
let replicas: readonly [PlatformProcess, PlatformProcess];

beforeAll(async () => {
  world = await createWorld();
  ingress = await startHttpsServer(["DNS:*.env.localhost"], (_request, reply) => reply.end("ok"));
  issuer = await startTokenIssuer();
  bearer = `Bearer ${await issuer.sign({ sub: "mai", email: "mai@example.test", groups: ["maintainers"] })}`;
  replicas = [await replica(), await replica()];
  await Promise.all(replicas.map((one) => one.start()));
}, 120_000);
beforeEach(() => Promise.all(replicas.map(untilReady)), 90_000);
afterAll(async () => {
  await Promise.all(replicas.map((one) => one.stop()));
  await issuer.stop();
  await ingress.stop();
  await world.stop();
}, 60_000);

const replica = () =>
  platformProcess(world.identity, {
    ...testSettings,
    ...{ ingressAddress: ingress.address, ingressCaFile: ingress.caFile, leaderElection: true },
    api: {
      issuers: [{ issuer: issuer.issuer, audience: AUDIENCE, roles: { maintainer: ["maintainers"] } }],
      limits: { authenticatedPerMinute: 100_000, unauthenticatedPerMinute: 100_000 },
    },
  });

interface Reply {
  readonly status: number;
  readonly headers: Headers;
  /** As far as tests look into it. */
  readonly body: {
    readonly status?: string;
    readonly detail?: string;
    readonly checks?: { readonly datastore: string };
    readonly environment?: { readonly id: string };
    readonly services?: { readonly cache: { readonly age_seconds?: number } };
  };
}

interface Sent {
  readonly method?: string;
  readonly body?: object;
  readonly key?: string;
  readonly signal?: AbortSignal;
}

async function call(replica: PlatformProcess, path: string, { method, body, key, signal }: Sent = {}): Promise<Reply> {
  const headers = {
    authorization: bearer,
    "content-type": "application/json",
    ...(key ? { "idempotency-key": key } : {}),
  };
  const reply = await fetch(`${replica.url}/api${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: signal ?? AbortSignal.timeout(30_000),
  });
  return { status: reply.status, headers: reply.headers, body: (await reply.json()) as Reply["body"] };
}

const wanted = (environment_name: string) => ({
  ...{ environment_name, backend_repo: "test-backend", backend_branch: "main", backend_commit: COMMIT },
});

/** Makes an environment, and waits until all replicas see that it is ready. */
async function haveReady(name: string): Promise<string> {
  const { id = "" } = (await call(replicas[0], "/environments", { body: wanted(name) })).body.environment ?? {};
  await world.expectPhase(name, "ready");
  const isSeen = async () => {
    const seen = await Promise.all(replicas.map((one) => call(one, `/environments/${name}`)));
    return seen.every(({ body }) => body.status === "ready");
  };
  await until(isSeen, { what: "all replicas seeing it" });
  return id;
}

async function untilReady(replica: PlatformProcess): Promise<void> {
  const isReady = () =>
    call(replica, "/ready").then(
      ({ status }) => status === 200,
      () => false,
    );
  await until(isReady, { what: "a ready replica", deadlineMs: 60_000, everyMs: 50 });
}

test("a status reconciliation repairs what no watch tells of, whichever replica is asked for it", async () => {
  await haveReady("looked-at");
  const message = "Status reconciled: environment 'looked-at' is ready";
  for (const one of replicas) {
    await world.admin.delete(secretKind, podSecretRef("looked-at"));
    // Within five seconds of the one before it would be the same.
    const isRepaired = async () => {
      const reply = await call(one, "/environments/looked-at/reconcile-status", { method: "POST" });
      expect(reply).toMatchObject({ status: 200, body: { status: "success", message } });
      return world.admin.find(secretKind, podSecretRef("looked-at"));
    };
    await until(isRepaired, { what: "the Secret", deadlineMs: 10_000, everyMs: 100 });
  }
}, 60_000);

/** How often the replica led until it could not renew its lease. */
const losses = ({ output }: PlatformProcess) => output.split('"message":"leadership was lost"').length - 1;

/** Who led is the only one that ends, now that the next process finds everything, and is started as a kubelet does. */
async function healed(lossesBefore: readonly number[]): Promise<void> {
  for (const [index, one] of replicas.entries()) {
    if (losses(one) === lossesBefore[index]) continue;
    expect(await one.ended()).toBe(1);
    await one.start();
  }
  await Promise.all(replicas.map(untilReady));
}

describe("while the API server is away", () => {
  test("every replica answers reads, refuses writes for now, and all heals alone", async () => {
    const two = replicas;
    const id = await haveReady("kept");
    const before = await Promise.all(two.map((one) => call(one, "/environments/kept")));

    const lossesBefore = two.map(losses);
    await world.plane.kill("kube-apiserver");
    const awayMs = performance.now();
    const hasLost = () => two.some((one, index) => losses(one) > (lossesBefore[index] ?? 0));
    const isNotReady = async (one: PlatformProcess) => (await call(one, "/ready")).status === 503;
    for (const one of two) await until(() => isNotReady(one), { what: "not being ready", deadlineMs: 10_000 });
    // Longer than the lease: the leader has to give it up, and goes on answering.
    await until(hasLost, { what: "the leader without its lease", deadlineMs: 30_000 });
    const lostSeconds = (performance.now() - awayMs) / 1000;
    const age = async (one: PlatformProcess) => (await call(one, "/status")).body.services?.cache.age_seconds ?? 0;
    const isLater = async () => (await age(two[0])) > lostSeconds + 5 && (await age(two[1])) > lostSeconds + 5;
    await until(isLater, { what: "both serving long after that", deadlineMs: 20_000, everyMs: 500 });
    for (const [index, one] of two.entries()) {
      expect((await call(one, "/environments/kept")).body).toEqual(before[index]?.body);
      expect((await call(one, `/environments/${id}`)).body).toEqual(before[index]?.body);
      expect((await call(one, "/environments?search=kept")).body).toMatchObject({ total: 1 });
      await expectRefusedWrites(one);
      const { body } = await call(one, "/ready");
      expect(body).toMatchObject({ status: "not ready", checks: { datastore: "unhealthy", deployer: "unhealthy" } });
      const { body: status } = await call(one, "/status");
      expect(status).toMatchObject({ status: "unhealthy", services: { datastore: { healthy: false } } });
    }
    await world.plane.restart("kube-apiserver");
    await healed(lossesBefore);
    for (const [index, one] of two.entries()) {
      expect((await call(one, "/environments", { body: wanted(`healed-${index}`) })).status).toBe(200);
      expect((await call(one, "/environments/kept")).body).toEqual(before[index]?.body);
    }
    await Promise.all(["healed-0", "healed-1"].map((name) => world.expectPhase(name, "ready")));
  }, 180_000);

  test("its database being away is as bad", async () => {
    await haveReady("stored");
    const [one] = replicas;
    const before = replicas.map(losses);
    await world.plane.kill("etcd");
    const datastore = async () => (await call(one, "/ready")).body.checks?.datastore;
    await until(async () => (await datastore()) === "unhealthy", { what: "not being ready", deadlineMs: 10_000 });
    expect((await call(one, "/environments/stored")).body).toMatchObject({ status: "ready" });
    const refused = await call(one, "/environments", { body: wanted("in-vain") });
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    await world.plane.restart("etcd");
    await healed(before);
  }, 120_000);

  async function expectRefusedWrites(replica: PlatformProcess): Promise<void> {
    const begunMs = performance.now();
    const path = "/environments/kept";
    const writes = [
      ["/environments", { body: wanted("in-vain") }],
      [path, { method: "PUT", body: { ttl_hours: 48 } }],
      [path, { method: "DELETE" }],
      [`${path}/reconcile-status`, { method: "POST" }],
    ] as const;
    for (const [target, sent] of writes) {
      const reply = await call(replica, target, sent);
      expect({ target, status: reply.status, detail: reply.body.detail }).toEqual({
        ...{ target, status: 503, detail: expect.stringContaining("The Kubernetes API can't be reached") },
      });
      expect(Number(reply.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    // What nobody answers is refused at once, not at the client's deadline of 20 s.
    expect(performance.now() - begunMs).toBeLessThan(15_000);
  }
});

describe("under load", () => {
  /** What clients were told: by key, every id of a success. */
  let told: Map<string, Set<string>>;
  const successes = () => [...told.values()].filter((ids) => ids.size > 0).length;

  /** Every fourth client loses its first answers. */
  const patienceMs = (index: number, attempt: number) => (index % 4 === 0 && attempt < 2 ? 5 : 10_000);

  /** A client that retries, at one replica and the other, until it is told of a success. */
  async function createOnce(name: string, index: number): Promise<void> {
    const key = randomUUID();
    const ids = new Set<string>();
    told.set(key, ids);
    let attempt = 0;
    const isTold = async () => {
      const replica = replicas[(index + attempt) % 2] as PlatformProcess;
      const sent = { body: wanted(name), key, signal: AbortSignal.timeout(patienceMs(index, attempt)) };
      attempt += 1;
      const reply = await call(replica, "/environments", sent).catch(() => undefined);
      // Whoever is told of a failure is told of one that passes.
      if (reply !== undefined) expect([200, 503]).toContain(reply.status);
      if (reply?.status !== 200) return false;
      ids.add(reply.body.environment?.id ?? "");
      return true;
    };
    await until(isTold, { what: `a success for ${name}`, deadlineMs: 60_000, everyMs: 20 });
  }

  /** So many creations by several clients at once; answers their names. */
  async function load(prefix: string): Promise<string[]> {
    told = new Map();
    const names = Array.from({ length: CREATIONS }, (_, index) => `${prefix}-${index}`);
    const waiting = names.entries();
    const clients = Array.from({ length: CLIENTS }, async () => {
      for (const [index, name] of waiting) await createOnce(name, index);
    });
    await Promise.all(clients);
    return names;
  }

  /** How often either replica accepted the creation of each of them, by name: all but one are repetitions. */
  function acceptedCreations(names: readonly string[]): ReadonlyMap<string, number> {
    const lines = replicas
      .flatMap(({ output }) => output.split("\n"))
      .filter((line) => line.startsWith('{"log":"audit"'));
    const records = lines.map((line) => JSON.parse(line) as Partial<AuditRecord>);
    const accepted = records.filter(({ action, outcome }) => action === "createEnvironment" && outcome === "accepted");
    return new Map(names.map((name) => [name, accepted.filter(({ concerns }) => concerns === name).length]));
  }

  const untilSuccesses = (count: number) =>
    until(() => successes() >= count, { what: `${count} successes`, deadlineMs: 60_000 });

  test.each([
    ["killed", (replica: PlatformProcess) => replica.kill()],
    ["asked to stop", (replica: PlatformProcess) => replica.terminate()],
  ] as const)(
    "a replica that is %s loses no accepted creation, and a client that retries sees one environment",
    async (how, end) => {
      const prefix = how.replaceAll(" ", "-");
      const loading = load(prefix);
      for (const [index, replica] of replicas.entries()) {
        await untilSuccesses((CREATIONS / 4) * (index + 1));
        await end(replica);
        await replica.start();
      }
      const names = await loading;
      expect([...told.values()].map((ids) => ids.size)).toEqual(names.map(() => 1));
      const { items } = await world.admin.list(environmentType);
      const made = items.filter(({ metadata }) => metadata.name.startsWith(prefix));
      const ids = [...told.values()].flatMap((one) => [...one]);
      expect(made.map(({ metadata }) => metadata.uid).sort()).toEqual(ids.sort());
      // Otherwise nobody came again, and nothing was shown.
      expect(Math.max(...acceptedCreations(names).values())).toBeGreaterThan(1);
    },
    240_000,
  );
});
