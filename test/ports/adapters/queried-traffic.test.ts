import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../../crds/sensitive.ts";
import { queriedTraffic } from "../../../operator/adapters/ingress-metrics/queried-traffic.ts";
import { IngressTrafficUnavailable } from "../../../operator/ports/ingress-traffic.ts";
import { type MetricsServer, startMetricsServer } from "../../support/doubles/metrics-server.ts";

const never = new AbortController().signal;
const ENVIRONMENTS = new Set(["env-shop", "env-billing"]);
const QUERY = 'sum by (exported_namespace) (nginx_ingress_controller_requests{status!="404"})';

const vector = (...rows: [labels: object, value: string][]) =>
  JSON.stringify({
    status: "success",
    data: { resultType: "vector", result: rows.map(([metric, value]) => ({ metric, value: [1782913892.1, value] })) },
  });

describe("Prometheus", () => {
  let answer: string;
  let server: MetricsServer;
  let traffic: ReturnType<typeof queriedTraffic>;
  beforeEach(async () => {
    answer = vector([{ exported_namespace: "env-shop", namespace: "ingress-nginx" }, "10"]);
    server = await startMetricsServer(() => answer);
    traffic = queriedTraffic({
      url: `${new URL(server.url).origin}/base/`,
      query: QUERY,
      timeoutMs: 500,
      answerLimitBytes: 4_096,
    });
    expect(await read()).toEqual({});
  });
  afterEach(async () => {
    await traffic.close();
    await server.stop();
  });
  const read = async (signal = never) => Object.fromEntries(await traffic.requestsSinceLast(ENVIRONMENTS, signal));

  test("is asked the query of the settings, without a credential", () => {
    const [request] = server.received;
    const { pathname, searchParams } = new URL(request?.url ?? "", "http://prometheus.test");
    expect(pathname).toBe("/base/api/v1/query");
    expect(Object.fromEntries(searchParams)).toEqual({ query: QUERY });
    expect(request?.headers.authorization).toBeUndefined();
  });

  test("knows totals, whose increase are the requests; rows of a namespace are added", async () => {
    answer = vector(
      [{ exported_namespace: "env-shop" }, "12"],
      [{ namespace: "env-billing", ingress: "web" }, "1"],
      [{ namespace: "env-billing", ingress: "api" }, "2e0"],
      [{ namespace: "kube-system" }, "100"],
      [{}, "1000"],
    );
    expect(await read()).toEqual({ "env-shop": 2, "env-billing": 3 });
    answer = vector([{ exported_namespace: "env-shop" }, "4"], [{ namespace: "env-billing" }, "3"]);
    expect(await read()).toEqual({ "env-shop": 4 });
  });

  test.each([
    ["a status", { status: 503, body: "no" }, "Prometheus answered 503"],
    ["an error", { status: 200, body: '{"status":"error","errorType":"timeout","error":"slow"}' }, "is an error"],
    ["something else than JSON", { status: 200, body: "<html>" }, "is not JSON"],
    ["null", { status: 200, body: "null" }, "is an error"],
    [
      "a scalar",
      { status: 200, body: '{"status":"success","data":{"resultType":"scalar","result":[1,"2"]}}' },
      "vector",
    ],
    ["rows of nothing", { status: 200, body: vector([null as never, "1"]).replace("]}]", "]},null]") }, "no label"],
    ["nothing", { status: 200, body: vector() }, "is empty"],
    ["no namespaces", { status: 200, body: vector([{ host: "shop" }, "1"]) }, "has no label namespace"],
    ["no count", { status: 200, body: vector([{ namespace: "env-shop" }, "NaN"]) }, "no count"],
    [
      "a part",
      { status: 200, body: vector([{ namespace: "env-shop" }, "1"]).replace("{", '{"warnings":["w"],') },
      "warnings",
    ],
    [
      "too much",
      { status: 200, body: vector([{ namespace: "x".repeat(5_000) }, "1"]) },
      "answered more than 4096 bytes",
    ],
    ["a redirect", { status: 307, location: "/elsewhere" }, "answered 307"],
    ["nothing in time", "hangs" as const, "TimeoutError"],
  ])("that answers %s is unavailable, and nothing is lost", async (_what, mood, message) => {
    answer = vector([{ exported_namespace: "env-shop" }, "11"]);
    server.answers(mood);
    const reading = read();
    await expect(reading).rejects.toThrow(IngressTrafficUnavailable);
    await expect(reading).rejects.toThrow(message);
    server.answers("normal");
    expect(await read()).toEqual({ "env-shop": 1 });
  });

  test("is not waited for once the caller has ended", async () => {
    server.answers("hangs");
    const caller = new AbortController();
    const reading = read(caller.signal);
    caller.abort(new Error("the term is over"));
    await expect(reading).rejects.toThrow("the term is over");
  });

  test("gets the token as it is at that time", async () => {
    const tokens = ["first", "second"];
    const url = new URL(server.url).origin;
    const secured = queriedTraffic({ url, query: "x", readToken: async () => new Sensitive(tokens.shift() ?? "") });
    await secured.requestsSinceLast(ENVIRONMENTS, never);
    await secured.requestsSinceLast(ENVIRONMENTS, never);
    expect(server.received.slice(1).map(({ headers }) => headers.authorization)).toEqual([
      "Bearer first",
      "Bearer second",
    ]);
    await secured.close();
  });

  test("whose token can't be read is unavailable", async () => {
    const readToken = async () => {
      throw Object.assign(new Error("no such file /secret/path"), { code: "ENOENT" });
    };
    const secured = queriedTraffic({ url: new URL(server.url).origin, query: "x", readToken });
    const reading = secured.requestsSinceLast(ENVIRONMENTS, never);
    await expect(reading).rejects.toThrow(IngressTrafficUnavailable);
    await expect(reading).rejects.toThrow(/^the file of Prometheus' token can't be read \(ENOENT\)$/);
    await secured.close();
  });
});
