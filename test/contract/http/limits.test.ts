import { afterEach, describe, expect, test } from "@jest/globals";
import { memorySharedCounters } from "../../support/doubles/memory/shared-counters.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

let service: ApiService | undefined;
const others: ApiService[] = [];
afterEach(() => Promise.all([service, ...others.splice(0)].map((started) => started?.stop())));

async function limited(limits: ServiceOptions["limits"], api: ServiceOptions["api"] = {}): Promise<ApiService> {
  service = await startApiService({ limits: { ...limits }, api });
  return service;
}

async function replicas(limits: NonNullable<ServiceOptions["limits"]>) {
  const counters = memorySharedCounters();
  const one = await startApiService({ limits, counters });
  const other = await startApiService({ limits, counters });
  others.push(one, other);
  return { one, other, counters };
}

const statuses = async (calls: readonly (() => Promise<{ status: number }>)[]) => {
  const seen: number[] = [];
  for (const call of calls) seen.push((await call()).status);
  return seen;
};
const times = <T>(count: number, call: T) => Array.from({ length: count }, () => call);

describe("an authenticated caller", () => {
  test("has a budget of their own, shown in the headers, in both versions together", async () => {
    const { http, bearer } = await limited({ authenticatedPerMinute: 3 });
    const [developer, viewer] = [await bearer("developer"), await bearer("viewer")];
    const first = await http.get("/api/environments").set("authorization", developer);
    expect(first.headers).toMatchObject({ "x-ratelimit-limit": "3", "x-ratelimit-remaining": "2" });
    const reset = Number(first.headers["x-ratelimit-reset"]) - Date.now() / 1000;
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(61);

    await http.get("/api/v2/environments").set("authorization", developer);
    await http.get("/api/status").set("authorization", developer);
    const over = await http.get("/api/environments").set("authorization", developer);
    expectProblem(over, 429, "Too many requests");
    expectPromised(over, "get", "/api/environments");
    expect(over.headers["x-ratelimit-remaining"]).toBe("0");
    expect(Number(over.headers["retry-after"])).toBeGreaterThan(0);
    expect((await http.get("/api/environments").set("authorization", viewer)).status).toBe(200);
  });

  test("spends it on refusals too", async () => {
    const { http, bearer } = await limited({ authenticatedPerMinute: 2 });
    const authorization = await bearer("viewer");
    const call = () => http.post("/api/environments").set({ authorization }).send({});
    expect(await statuses(times(3, call))).toEqual([403, 403, 429]);
  });
});

describe("an owner of API tokens", () => {
  const limits = { authenticatedPerMinute: 3, ownerPerMinute: 4 };
  const asking =
    ({ http }: ApiService, credential: string) =>
    () =>
      http.get("/api/environments").set("authorization", credential);

  test("abuse case 118: has one budget for all of them and for ID tokens, beside that of each", async () => {
    const api = await limited(limits);
    const tokens = await Promise.all(times(3, "developer" as const).map((person) => api.makeToken(person)));
    const [one = "", two = "", three = ""] = tokens.map(({ value }) => `Bearer ${value}`);
    const person = await api.bearer("developer");
    const calls = [one, one, two, person, three, person, one].map((credential) => asking(api, credential));
    expect(await statuses(calls)).toEqual([200, 200, 200, 200, 429, 429, 429]);
    expect(await statuses([asking(api, await api.bearer("colleague"))])).toEqual([200]);
  });

  test("sees the rest of the budget that ends first, and which one is spent", async () => {
    const api = await limited(limits);
    const tokens = await Promise.all(times(2, "developer" as const).map((person) => api.makeToken(person)));
    const [one = "", two = ""] = tokens.map(({ value }) => `Bearer ${value}`);
    const reported = async (credential: string) => {
      const { status, headers } = await asking(api, credential)();
      return [status, headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]];
    };
    expect(await reported(one)).toEqual([200, "3", "2"]);
    expect(await reported(one)).toEqual([200, "3", "1"]);
    expect(await reported(two)).toEqual([200, "4", "1"]);
    expect(await reported(two)).toEqual([200, "4", "0"]);
    expect(await reported(two)).toEqual([429, "4", "0"]);
  });

  test("loses nothing to what one token is refused beyond its own", async () => {
    const api = await limited(limits);
    const { value } = await api.makeToken("developer");
    const runaway = asking(api, `Bearer ${value}`);
    expect(await statuses(times(9, runaway))).toEqual([200, 200, 200, ...times(6, 429)]);
    const person = asking(api, await api.bearer("developer"));
    expect(await statuses([person, person])).toEqual([200, 429]);
  });
});

describe("an unauthenticated caller", () => {
  test("shares the budget of the address, for all credentials and in both versions", async () => {
    const { http, bearer } = await limited({ unauthenticatedPerMinute: 4 });
    const seen = await statuses([
      () => http.get("/api/environments"),
      () => http.get("/api/v2/environments").set("authorization", "Bearer nonsense"),
      () => http.delete("/api/environments/x").set("authorization", "Bearer svc_guess"),
      () => http.get("/api/status"),
      () => http.get("/api/status"),
      () => http.get("/api/environments").set("authorization", "Bearer nonsense"),
    ]);
    expect(seen).toEqual([401, 401, 401, 200, 429, 429]);
    const known = await http.get("/api/environments").set("authorization", await bearer("developer"));
    expect(known.status).toBe(200);
  });

  test("spends it, and fills no audit log, also with a credential that can't be judged now", async () => {
    const { http, apiTokens, audit, makeToken } = await limited({ unauthenticatedPerMinute: 2 });
    const { value } = await makeToken("developer");
    apiTokens.setReachable(false);
    const replies = [];
    for (let call = 0; call < 5; call += 1) {
      replies.push(await http.delete("/api/environments/x").set("authorization", `Bearer ${value}`));
    }
    for (const reply of replies) expectPromised(reply, "delete", "/api/environments/{environment_id}");
    expect(replies.map(({ status }) => status)).toEqual([503, 503, 429, 429, 429]);
    expect(replies.map(({ headers }) => headers["x-ratelimit-remaining"])).toEqual(["1", "0", "0", "0", "0"]);
    expect(audit.records.map(({ status }) => status)).toEqual([503, 503, 429]);
  });

  test("gets no other budget for a forwarded address that no trusted proxy reports", async () => {
    const { http } = await limited({ unauthenticatedPerMinute: 2 });
    const call = (n: number) => () => http.get("/api/environments").set("x-forwarded-for", `203.0.113.${n}`);
    expect(await statuses([call(1), call(2), call(3)])).toEqual([401, 401, 429]);
  });

  test("abuse case 99: gets no other budget past the proxy: only its own addresses are believed", async () => {
    const proxies = { trustedProxyHops: 1, trustedProxies: ["10.9.0.0/16", "2001:db8::/32"] };
    const { http } = await limited({ unauthenticatedPerMinute: 2 }, proxies);
    const call = (n: number) => () => http.get("/api/environments").set("x-forwarded-for", `203.0.113.${n}`);
    expect(await statuses([call(1), call(2), call(3)])).toEqual([401, 401, 429]);
  });

  test("is identified by the address that a trusted proxy reports, and not by addresses forwarded to that proxy", async () => {
    const proxies = { trustedProxyHops: 1, trustedProxies: ["127.0.0.0/8"] };
    const { http } = await limited({ unauthenticatedPerMinute: 1 }, proxies);
    const call = (address: string) => () => http.get("/api/environments").set("x-forwarded-for", address);
    const seen = await statuses([call("203.0.113.1"), call("203.0.113.2"), call("203.0.113.9, 203.0.113.2")]);
    expect(seen).toEqual([401, 401, 429]);
  });

  test("is identified by the address that a configured proxy reports, IPv6 by its network", async () => {
    const { http } = await limited({ unauthenticatedPerMinute: 1 }, { trustedProxyHops: 1 });
    const call = (address: string) => () => http.get("/api/environments").set("x-forwarded-for", address);
    const seen = await statuses([
      call("203.0.113.1"),
      call("203.0.113.2"),
      call("203.0.113.9, 203.0.113.2"),
      call("::ffff:203.0.113.2"),
      call("2001:db8:0:100::1"),
      call("2001:db8:0:1ff::2"),
      call("2001:db8:0:200::1"),
    ]);
    expect(seen).toEqual([401, 401, 429, 429, 401, 429, 401]);
  });
});

test("pages of the documentation have a budget of their own", async () => {
  const { http } = await limited({ documentationPerMinute: 2, unauthenticatedPerMinute: 1 });
  const seen = await statuses([
    () => http.get("/docs"),
    () => http.get("/openapi.json"),
    () => http.get("/redoc"),
    () => http.get("/api/environments"),
  ]);
  expect(seen).toEqual([200, 200, 429, 401]);
});

test("how to log in has a budget of its own, whatever credential comes along", async () => {
  const { http, bearer } = await limited({ pagesPerMinute: 2, unauthenticatedPerMinute: 1, authenticatedPerMinute: 1 });
  const authorization = await bearer("developer");
  const seen = await statuses([
    () => http.get("/api/v2/auth/login-options"),
    () => http.get("/api/v2/auth/login-options").set({ authorization }),
    () => http.get("/api/v2/auth/login-options"),
    () => http.get("/api/environments").set({ authorization }),
    () => http.get("/api/environments"),
  ]);
  expect(seen).toEqual([200, 200, 429, 200, 401]);
});

test("health probes are never limited", async () => {
  const { http } = await limited({ unauthenticatedPerMinute: 1, authenticatedPerMinute: 1 });
  const seen = await statuses([
    ...times(5, () => http.get("/api/health")),
    ...times(5, () => http.get("/api/v2/ready")),
  ]);
  expect(new Set(seen)).toEqual(new Set([200]));
  expect((await http.get("/api/health")).headers).not.toHaveProperty("x-ratelimit-limit");
});

describe("replicas that share their counters", () => {
  const ask = ({ http }: ApiService) => http.get("/api/environments");

  test("limit a caller together", async () => {
    const { one, other } = await replicas({ unauthenticatedPerMinute: 3 });
    const seen = await statuses([one, other, one, other].map((replica) => () => ask(replica)));
    expect(seen).toEqual([401, 401, 401, 429]);
  });

  test("go on alone while the counters are away: no request fails, headers stay, and no caller gets a fresh budget", async () => {
    const { one, other, counters } = await replicas({ unauthenticatedPerMinute: 4 });
    await ask(one);
    await ask(one);
    await ask(other);
    counters.setReachable(false);
    const third = await ask(one);
    expect(third.status).toBe(401);
    expect(third.headers).toMatchObject({ "x-ratelimit-limit": "4", "x-ratelimit-remaining": "1" });
    expect(await statuses(times(2, () => ask(one)))).toEqual([401, 429]);
    counters.setReachable(true);
    expect((await ask(other)).headers["x-ratelimit-remaining"]).toBe("0");
    expect((await ask(one)).status).toBe(429);
  });
});

test("a window ends for a replica that counts alone", async () => {
  const { http, clock } = await limited({ unauthenticatedPerMinute: 1 });
  const ask = () => http.get("/api/environments");
  expect(await statuses([ask, ask])).toEqual([401, 429]);
  clock.advance(60_000);
  expect(await statuses([ask, ask])).toEqual([401, 429]);
});
