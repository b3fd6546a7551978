import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import type { EnvironmentStatus, EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { REQUESTED_ANNOTATION } from "../../../../crds/group.ts";
import { httpsIngressClient } from "../../../../operator/adapters/http/ingress-client.ts";
import { kubernetesSleepingEnvironments } from "../../../../operator/adapters/kubernetes/sleeping-environments.ts";
import { createGate, type Gate } from "../../../../operator/gate/gate.ts";
import { type GateServer, startGateServer } from "../../../../operator/gate/server.ts";
import { createObjectCache } from "../../../../operator/kit/cache/indexed-cache.ts";
import type { KubeClient } from "../../../../operator/kit/client/kube-client.ts";
import { systemClock } from "../../../../operator/kit/time/clock.ts";
import type { IngressClient } from "../../../../operator/ports/ingress-client.ts";
import { type IngressServer, startIngress } from "../../../support/doubles/ingress-server.ts";
import { partialDouble } from "../../../support/doubles/partial-double.ts";
import { environmentFixture } from "../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";
import { until } from "../../../support/fixtures/until.ts";

const DOMAIN = "env.example.com";
const HOST = `shop.${DOMAIN}`;
const SINCE = "2026-01-01T10:00:00.000Z";

let ingress: IngressServer;
let client: IngressClient;
let gate: Gate;
let server: GateServer;
let stopping: AbortController;
let cache: ReturnType<typeof createObjectCache<EphemeralEnvironment>>;
let answers: string[];
let writes: unknown[];
/** Called by the API server's stand-in for each write. */
let onWrite: () => void;
let version = 1;

beforeAll(async () => {
  ingress = await startIngress(DOMAIN);
});

afterAll(() => ingress.close());

beforeEach(async () => {
  stopping = new AbortController();
  answers = [];
  writes = [];
  onWrite = () => undefined;
  ingress.backends.clear();
  cache = createObjectCache<EphemeralEnvironment>();
  await cache.replace({ items: new Map(), resourceVersion: "1" }, cache.beginList());
  client = httpsIngressClient(ingress.settings);
  gate = createGate({
    environments: kubernetesSleepingEnvironments({ client: apiServer, cache, clock: systemClock }),
    ingress: client,
    clock: systemClock,
    log: silentLog,
    baseDomain: DOMAIN,
    trustedProxyHops: 1,
    isIgnoredAgent: (agent) => agent.includes("Monitor"),
    answered: (name) => answers.push(name),
    stopping: stopping.signal,
  });
  server = await startGateServer(gate, { host: "127.0.0.1", port: 0, clock: systemClock });
  ingress.fallback = server.url;
});

afterEach(async () => {
  stopping.abort();
  await server.stop(0);
  client.close();
});

const apiServer = partialDouble<KubeClient>({
  async patch(_type, { name }, body) {
    writes.push(body);
    onWrite();
    const { annotations } = (body as { metadata: { annotations: Record<string, string> } }).metadata;
    const found = cache.get(name);
    const changed = { ...found, metadata: { ...found?.metadata, annotations, resourceVersion: `${++version}` } };
    return changed as never;
  },
});

type Sleep = NonNullable<EnvironmentStatus["sleep"]>;

const urls = { frontend: `https://${HOST}`, backend: `https://shop--api.${DOMAIN}` };
const asleep: Sleep = { state: "asleep", since: SINCE, cause: "idle", afterIdleMinutes: 10 };

/** Stores the environment; each time as a newer version. */
function store(status: Partial<EnvironmentStatus>, spec: Partial<EphemeralEnvironment["spec"]> = {}): void {
  const base = { phase: "ready", readyAt: SINCE, urls, ...status } as const;
  cache.upsert(environmentFixture({ spec, status: base, metadata: { resourceVersion: `${++version}` } }));
}

/** The environment is awake, and the application answers. */
function wakeUp(application: (body: string) => string = () => "hello"): string[] {
  const seen: string[] = [];
  ingress.backends.set(HOST, async (call, reply) => {
    const body = await text(call);
    if (call.method !== "HEAD") seen.push(`${call.method} ${call.url} ${body}`);
    reply.setHeader("x-by", "application");
    reply.end(application(body));
  });
  store({ sleep: { ...asleep, state: "waking" } });
  return seen;
}

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function ask(options: {
  readonly host?: string;
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}): Promise<Reply> {
  const { host = HOST, method = "GET", path = "/", headers = {}, body } = options;
  const { hostname, port } = new URL(server.url);
  const call = httpRequest({ hostname, port, method, path, headers: { host, ...headers }, agent: false });
  call.end(body);
  const [reply] = await once(call, "response");
  return { status: reply.statusCode, headers: reply.headers, body: await text(reply) };
}

const browser = { accept: "text/html" };

describe("a sleeping environment", () => {
  test("is woken by one write, and its first requests are passed on exactly once", async () => {
    store({ sleep: asleep });
    const held = Array.from({ length: 20 }, (_, at) => ask({ method: "POST", path: `/orders?${at}`, body: `n${at}` }));
    await until(() => gate.held === 20);
    // Asleep, then without an Ingress, then without pods.
    store({ sleep: { ...asleep, state: "waking" } });
    ingress.backends.set(HOST, "none");
    const seen = wakeUp((body) => `got ${body}`);
    const replies = await Promise.all(held);
    expect(replies.map(({ status, body }) => ({ status, body }))).toEqual(
      Array.from({ length: 20 }, (_, at) => ({ status: 200, body: `got n${at}` })),
    );
    expect(seen.toSorted()).toEqual(Array.from({ length: 20 }, (_, at) => `POST /orders?${at} n${at}`).toSorted());
    expect(replies[0]?.headers["x-by"]).toBe("application");
    expect(writes).toHaveLength(1);
    expect(answers.filter((name) => name === "passed")).toHaveLength(20);
  });

  test("is woken for a request that came just before it fell asleep", async () => {
    store({ sleep: { ...asleep, state: "awake" } });
    const held = ask({ method: "POST", path: "/orders", body: "one" });
    await until(() => gate.held === 1);
    expect(writes).toEqual([]);
    store({ sleep: asleep });
    await until(() => writes.length > 0, { what: "the request to wake" });
    const seen = wakeUp();
    expect(await held).toMatchObject({ status: 200, body: "hello" });
    expect([seen, writes.length]).toEqual([["POST /orders one"], 1]);
  });

  test("says that it was requested later than it fell asleep, whatever the gate's clock says", async () => {
    store({ sleep: { ...asleep, since: "2999-01-01T00:00:00.000Z" } });
    await ask({ headers: browser });
    expect(writes).toEqual([
      { metadata: { uid: expect.any(String), annotations: { [REQUESTED_ANNOTATION]: "2999-01-01T00:00:00.001Z" } } },
    ]);
  });

  test("shows a browser a page that asks on, and wakes", async () => {
    store({ sleep: asleep });
    const { status, headers, body } = await ask({ headers: browser });
    expect(status).toBe(503);
    expect(headers).toMatchObject({ "retry-after": "2", "cache-control": "no-store", "x-robots-tag": "noindex" });
    expect(headers["content-security-policy"]).toMatch(
      /^default-src 'none'; style-src 'sha256-[^;]+; script-src 'sha256-/,
    );
    expect(body).toContain("<h1>shop is waking up</h1>");
    expect(writes).toHaveLength(1);
  });

  test("tells its page how far it is", async () => {
    const conditions = [
      { type: "DatabaseReady", status: "True", reason: "Ready", message: "", lastTransitionTime: SINCE },
      { type: "ApplicationSynced", status: "Unknown", reason: "Progressing", message: "", lastTransitionTime: SINCE },
    ] as const;
    store({ sleep: { ...asleep, state: "waking" }, conditions: [...conditions] });
    const { status, body } = await ask({ headers: { "x-environment-gate": "status" } });
    expect(status).toBe(503);
    expect(JSON.parse(body)).toMatchObject({
      title: "shop is waking up",
      steps: [
        { title: "Database", state: "done" },
        { title: "Application", state: "active" },
      ],
    });
  });

  test.each([
    ["a monitor", { headers: { "user-agent": "Monitor/1" } }],
    ["HEAD", { method: "HEAD" }],
    ["robots.txt", { path: "/robots.txt" }],
    ["an icon", { path: "/favicon.ico" }],
    ["our prober", { headers: { "user-agent": "ephemeral-environments-prober" } }],
  ])("sleeps on: %s", async (_title, options) => {
    store({ sleep: asleep });
    const { status, headers } = await ask(options);
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("60");
    expect(writes).toEqual([]);
  });

  test("wakes by a WebSocket, which is told to come back", async () => {
    store({ sleep: asleep });
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /live HTTP/1.1\r\nHost: ${HOST}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
    const reply = await text(socket);
    expect(reply).toMatch(/^HTTP\/1\.1 503 Service Unavailable\r\n[\s\S]*retry-after: 2\r\n/);
    expect(writes).toHaveLength(1);
  });

  test("passes nothing on that is too long, and wakes", async () => {
    store({ sleep: asleep });
    const { status, headers } = await ask({ method: "POST", body: Buffer.alloc(2 ** 20 + 1) });
    expect(status).toBe(503);
    expect(headers["retry-after"]).toBe("5");
    expect(writes).toHaveLength(1);
  });

  test("says on why it failed to wake", async () => {
    store({ sleep: asleep });
    const held = ask({});
    await until(() => gate.held === 1);
    const conditions = [
      { type: "Ready", status: "False", reason: "DeadlineExceeded", message: "no <room>", lastTransitionTime: SINCE },
    ] as const;
    store({ phase: "failed", conditions: [...conditions], sleep: { ...asleep, state: "waking" } });
    expect(await held).toMatchObject({ status: 503, body: "shop does not run. no <room>\n" });
    const page = await ask({ headers: browser });
    expect(page.body).toContain("no &lt;room&gt;");
  });

  test("a request whose answer never comes is answered 502, and was sent once", async () => {
    store({ sleep: asleep });
    const held = ask({ method: "POST", body: "order" });
    await until(() => gate.held === 1);
    let sent = 0;
    ingress.backends.set(HOST, (call, reply) => {
      if (call.method === "HEAD") return void reply.end();
      sent += 1;
      call.socket.destroy();
    });
    store({ sleep: { ...asleep, state: "waking" } });
    expect(await held).toMatchObject({ status: 502 });
    expect(sent).toBe(1);
  });

  test("a gate that stops answers what it holds", async () => {
    store({ sleep: asleep });
    const held = ask({});
    await until(() => gate.held === 1);
    stopping.abort();
    expect(await held).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  });

  test("holds a hundred requests of a host and two hundred in all, and refuses more", async () => {
    store({ sleep: asleep });
    const hosts = [HOST, `shop--api.${DOMAIN}`];
    const held = hosts.flatMap((host) => Array.from({ length: 100 }, () => ask({ host })));
    await until(() => gate.held === 200);
    const refused = { status: 503, headers: { "retry-after": "5" } };
    expect(await ask({})).toMatchObject(refused);
    for (const host of hosts) ingress.backends.set(host, (_call, reply) => void reply.end());
    store({ sleep: { ...asleep, state: "waking" } });
    const statuses = new Set((await Promise.all(held)).map(({ status }) => status));
    expect([...statuses]).toEqual([200]);
    expect(gate.held).toBe(0);
  });

  test("one host that never answers leaves room for others", async () => {
    store({ sleep: asleep });
    const held = Array.from({ length: 100 }, () => ask({}));
    await until(() => gate.held === 100);
    expect(await ask({})).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
    const other = ask({ host: `shop--api.${DOMAIN}` });
    await until(() => gate.held === 101);
    stopping.abort();
    await Promise.all([...held, other]);
  });

  test("is woken in spite of a time of a request that the operator ignores", async () => {
    const annotations = { [REQUESTED_ANNOTATION]: "2999-01-01T00:00:00.000Z" };
    const status = { phase: "ready", readyAt: SINCE, urls, sleep: asleep } as const;
    cache.upsert(environmentFixture({ status, metadata: { annotations, resourceVersion: `${++version}` } }));
    await ask({ headers: browser });
    expect(writes).toHaveLength(1);
  });

  test("an API server that does not answer is no reason to be silent", async () => {
    store({ sleep: asleep });
    onWrite = () => {
      throw new Error("no connection");
    };
    expect(await ask({})).toMatchObject({ status: 503, headers: { "retry-after": "5" } });
  });
});

describe("a storm of wakes", () => {
  const many = (count: number, address: (at: number) => string) =>
    Promise.all(
      Array.from({ length: count }, (_, at) => {
        const name = `shop${at}`;
        const status = {
          phase: "ready",
          readyAt: SINCE,
          sleep: asleep,
          urls: { frontend: `https://${name}.${DOMAIN}` },
        };
        const metadata = { name, uid: `uid-${at}`, resourceVersion: `${++version}` };
        cache.upsert(environmentFixture({ status: status as EnvironmentStatus, metadata }));
        const headers = { ...browser, "x-forwarded-for": address(at) };
        return ask({ host: `${name}.${DOMAIN}`, headers });
      }),
    );

  test("one address wakes twenty", async () => {
    const replies = await many(40, () => "1.1.1.1");
    expect(writes).toHaveLength(20);
    expect(replies.filter(({ headers }) => headers["retry-after"] === "30")).toHaveLength(20);
  });

  test("a thousand hosts, by as many addresses, wake a few of them", async () => {
    await many(1000, (at) => `10.0.${at >> 8}.${at & 255}`);
    expect(writes.length).toBeGreaterThanOrEqual(50);
    // Five more a second.
    expect(writes.length).toBeLessThan(300);
  });
});

describe("other hosts", () => {
  test("of nothing and of an environment that has no such host look the same", async () => {
    store({ sleep: asleep });
    const replies = [
      await ask({ host: `nothing.${DOMAIN}`, headers: browser }),
      await ask({ host: `shop--nothing.${DOMAIN}`, headers: browser }),
      await ask({ host: "evil.test", headers: browser }),
    ];
    const [first] = replies;
    expect(first?.status).toBe(404);
    for (const { status, body } of replies) expect({ status, body }).toEqual({ status: 404, body: first?.body });
    expect(first?.body).not.toContain("shop");
    expect(writes).toEqual([]);
  });

  test("of one that a person has suspended say so, and nothing wakes", async () => {
    store({}, { suspended: true });
    const { status, headers, body } = await ask({});
    expect({ status, retry: headers["retry-after"] }).toEqual({ status: 503, retry: undefined });
    expect(body).toContain("shop is suspended");
    expect(writes).toEqual([]);
  });

  test("of one that is being created say so", async () => {
    const { readyAt: _, ...status } = { phase: "creating", urls, readyAt: undefined } as const;
    cache.upsert(environmentFixture({ status, metadata: { resourceVersion: `${++version}` } }));
    expect((await ask({})).body).toContain("shop is being created");
    expect(writes).toEqual([]);
  });
});
