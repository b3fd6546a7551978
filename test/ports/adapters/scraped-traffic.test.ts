import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { scrapedTraffic } from "../../../operator/adapters/ingress-metrics/scraped-traffic.ts";
import { type IngressTraffic, IngressTrafficUnavailable } from "../../../operator/ports/ingress-traffic.ts";
import { type MetricsServer, metricsListener, startMetricsServer } from "../../support/doubles/metrics-server.ts";
import { startHttpsServer } from "../../support/http/https-server.ts";
import { ingressTrafficSuite } from "../suites/ingress-traffic.suite.ts";

const never = new AbortController().signal;
const ENVIRONMENTS = new Set(["env-shop"]);

/** Traefik's metrics, of a process that answered these requests by namespace. */
const metricsOf = (counts: ReadonlyMap<string, number>) =>
  [
    "# TYPE traefik_config_reloads_total counter",
    "traefik_config_reloads_total 2",
    ...Array.from(
      counts,
      ([namespace, count]) =>
        `traefik_service_requests_total{code="200",method="GET",protocol="http",service="${namespace}-web-http@kubernetes"} ${count}`,
    ),
    "",
  ].join("\n");

/** Instances of one name, each at a loopback address of its own, at the same port. */
function instances() {
  const running = new Map<string, { address: string; counts: Map<string, number>; server: MetricsServer }>();
  let port = 0;
  return {
    running,
    resolve: async () => Array.from(running.values(), ({ address }) => ({ address, family: 4 })),
    get url() {
      return `http://traefik.test:${port}/metrics`;
    },
    async begins(name: string) {
      const address = `127.0.0.${running.size + 2}`;
      const counts = new Map<string, number>();
      const server = await startMetricsServer(() => metricsOf(counts), { host: address, port });
      port = server.port;
      running.set(name, { address, counts, server });
    },
    passesOn(name: string, namespace: string, count: number) {
      const counts = running.get(name)?.counts;
      counts?.set(namespace, (counts.get(namespace) ?? 0) + count);
    },
    async vanishes(name: string) {
      await running.get(name)?.server.stop();
      running.delete(name);
    },
    async stop() {
      await Promise.all(Array.from(running.values(), ({ server }) => server.stop()));
    },
  };
}

ingressTrafficSuite("scraped", async () => {
  const all = instances();
  let traffic: IngressTraffic | undefined;
  return {
    get traffic() {
      traffic ??= scrapedTraffic({ controller: "traefik", urls: [all.url], resolve: all.resolve });
      return traffic;
    },
    begins: all.begins,
    passesOn: all.passesOn,
    restarts: (name) => all.running.get(name)?.counts.clear(),
    vanishes: all.vanishes,
    fails(isFailing) {
      for (const { server } of all.running.values()) server.answers(isFailing ? { status: 500 } : "normal");
    },
    async stop() {
      await traffic?.close();
      await all.stop();
    },
  };
});

describe("an ingress controller", () => {
  let all: ReturnType<typeof instances>;
  let traffic: IngressTraffic;
  beforeEach(async () => {
    all = instances();
    await all.begins("one");
    all.passesOn("one", "env-shop", 1);
    traffic = scrapedTraffic({
      controller: "traefik",
      urls: [all.url],
      resolve: all.resolve,
      timeoutMs: 500,
      answerLimitBytes: 4_096,
    });
    await traffic.requestsSinceLast(ENVIRONMENTS, never);
  });
  afterEach(async () => {
    await traffic.close();
    await all.stop();
  });
  const read = async () => Object.fromEntries(await traffic.requestsSinceLast(ENVIRONMENTS, never));
  const serverOf = (name: string) => all.running.get(name)?.server as MetricsServer;

  test.each([
    ["another status", { status: 503 }, "answered 503"],
    ["nothing in time", "hangs" as const, "does not answer (TimeoutError)"],
    [
      "too much",
      { status: 200, body: `${metricsOf(new Map([["env-shop", 2]]))}# ${"x".repeat(5_000)}\n` },
      "answered more than 4096 bytes",
    ],
    ["a page", { status: 200, body: "<html>\nnginx is here\n" }, "answered without a metric traefik_…"],
    ["nothing", { status: 200, body: "" }, "answered without a metric traefik_…"],
    [
      "a counter without a value",
      { status: 200, body: 'traefik_service_requests_total{service="env-shop-web-http@kubernetes"}\n' },
      "is no count",
    ],
    ["a counter that is no number", { status: 200, body: "traefik_service_requests_total NaN\n" }, "is no count"],
  ])("that answers %s is unavailable, and nothing is lost", async (_what, mood, message) => {
    all.passesOn("one", "env-shop", 2);
    serverOf("one").answers(mood);
    const reading = read();
    await expect(reading).rejects.toThrow(IngressTrafficUnavailable);
    await expect(reading).rejects.toThrow(message);
    serverOf("one").answers("normal");
    expect(await read()).toEqual({ "env-shop": 2 });
  });

  test.each([
    ["nowhere", metricsOf(new Map())],
    ["of no namespace", 'traefik_service_requests_total{service="ping@internal"} 9\n'],
  ])("whose counter is %s is unavailable, and counts from 0 afterwards", async (_what, body) => {
    all.passesOn("one", "env-shop", 2);
    serverOf("one").answers({ status: 200, body });
    await expect(read()).rejects.toThrow("/metrics answered without traefik_service_requests_total");
    serverOf("one").answers("normal");
    expect(await read()).toEqual({ "env-shop": 3 });
  });

  test("that redirects is not followed", async () => {
    const other = await startMetricsServer(() => metricsOf(new Map([["env-shop", 100]])));
    serverOf("one").answers({ status: 302, location: other.url });
    await expect(read()).rejects.toThrow("answered 302");
    expect(other.received).toEqual([]);
    await other.stop();
  });

  test("is unavailable while one of its instances is, and what the others say is kept", async () => {
    await all.begins("two");
    all.passesOn("two", "env-shop", 4);
    all.passesOn("one", "env-shop", 2);
    serverOf("two").answers({ status: 500 });
    await expect(read()).rejects.toThrow("answered 500");
    all.running.get("one")?.counts.clear();
    all.passesOn("one", "env-shop", 1);
    serverOf("two").answers("normal");
    expect(await read()).toEqual({ "env-shop": 2 + 1 + 4 });
  });

  test("has instances that passed on nothing yet, and lack their counter", async () => {
    await all.begins("two");
    all.passesOn("one", "env-shop", 2);
    expect(await read()).toEqual({ "env-shop": 2 });
    all.passesOn("two", "env-shop", 3);
    expect(await read()).toEqual({ "env-shop": 3 });
  });

  test("without an address is unavailable", async () => {
    await all.vanishes("one");
    await expect(read()).rejects.toThrow(IngressTrafficUnavailable);
  });

  test("that is away is unavailable", async () => {
    await serverOf("one").stop();
    await expect(read()).rejects.toThrow("does not answer (ECONNREFUSED)");
    all.running.delete("one");
  });

  test("is scraped once for addresses of both families", async () => {
    const resolve = async () => [{ address: "::1", family: 6 }, ...(await all.resolve())];
    const both = scrapedTraffic({ controller: "traefik", urls: [all.url], resolve });
    expect(await both.requestsSinceLast(ENVIRONMENTS, never)).toEqual(new Map());
    await both.close();
  });

  test("of more than 64 instances is unavailable, and none of them is scraped", async () => {
    const before = serverOf("one").received.length;
    const resolve = async () => Array.from({ length: 65 }, () => ({ address: "127.0.0.2", family: 4 }));
    const many = scrapedTraffic({ controller: "traefik", urls: [all.url], resolve });
    await expect(many.requestsSinceLast(ENVIRONMENTS, never)).rejects.toThrow("there are 65 instances");
    expect(serverOf("one").received).toHaveLength(before);
    await many.close();
  });

  test("whose names are not resolved in time is unavailable", async () => {
    const resolve = () => Promise.withResolvers<never>().promise;
    const stuck = scrapedTraffic({ controller: "traefik", urls: [all.url], resolve, timeoutMs: 50 });
    await expect(stuck.requestsSinceLast(ENVIRONMENTS, never)).rejects.toThrow("addresses are unknown (TimeoutError)");
    await stuck.close();
  });

  test("is not waited for at the end of the process", async () => {
    serverOf("one").answers("hangs");
    const reading = read();
    await traffic.close();
    await expect(reading).rejects.toThrow();
  });

  test("with https has its certificate checked against the URL's name", async () => {
    const { listener, received } = metricsListener(() => metricsOf(new Map([["env-shop", 1]])));
    const server = await startHttpsServer(["DNS:traefik.test"], listener);
    const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
    const over = (host: string, ca?: string) =>
      scrapedTraffic({ controller: "traefik", urls: [`https://${host}:${server.port}/metrics`], resolve, ca });
    const reads = (one: IngressTraffic) => one.requestsSinceLast(ENVIRONMENTS, never);
    await expect(reads(over("traefik.test", server.ca))).resolves.toEqual(new Map());
    expect(received[0]?.headers.host).toBe(`traefik.test:${server.port}`);
    await expect(reads(over("other.test", server.ca))).rejects.toThrow("ERR_TLS_CERT_ALTNAME_INVALID");
    await expect(reads(over("traefik.test"))).rejects.toThrow(IngressTrafficUnavailable);
    expect(received).toHaveLength(1);
    await server.stop();
  });
});
