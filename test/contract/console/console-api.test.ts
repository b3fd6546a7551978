import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Browser } from "../../support/http/browser.ts";
import { type ConsoleService, PERSON, startConsoleService } from "../../support/http/console-service.ts";

let service: ConsoleService;
let browser: Browser;
beforeAll(async () => {
  service = await startConsoleService({ api: { corsOrigins: ["https://elsewhere.test"] } });
  browser = await service.loggedIn();
});
afterAll(() => service.stop());

const LIST = "/console/api/v2/environments";
const NEW = { environment_name: "shop-session", backend_repo: "open-api", backend_branch: "main" };
const json = { "content-type": "application/json" };
const owner = () => ({ subject: `${service.provider.issuer}#${PERSON.sub}`, email: PERSON.email, name: PERSON.name });

describe("a page of the console, with its session", () => {
  test("calls the interface as the person, whose change is recorded under the request's id", async () => {
    const made = await browser.fetch("/console/api/v2/environments", {
      method: "POST",
      body: JSON.stringify(NEW),
      headers: { ...json, "x-request-id": "from-a-page" },
    });
    expect(made.status).toBe(200);
    expect(made.headers.get("x-request-id")).toBe("from-a-page");
    const [environment] = service.api.environments.list();
    expect(environment?.spec.owner).toEqual(owner());
    expect(service.api.audit.records).toContainEqual(
      expect.objectContaining({
        requestId: "from-a-page",
        outcome: "accepted",
        status: 200,
        actor: expect.objectContaining({ method: "id_token", subject: owner().subject }),
      }),
    );
    const { data } = (await (await browser.fetch(`${LIST}?limit=1`)).json()) as { data: { environments: object[] } };
    expect(data.environments).toMatchObject([{ name: "shop-session" }]);
  });

  test("follows streams", async () => {
    await service.api.environments.create("shop-stream", {
      backend: { repository: "open-api", branch: "main" },
      owner: owner(),
      access: { groups: ["shop-team"] },
    });
    const stop = new AbortController();
    const stream = await browser.fetch("/console/api/v2/environments/shop-stream/stream", { signal: stop.signal });
    expect(stream.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const reader = stream.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    expect(new TextDecoder().decode(value)).toMatch(/^id: .+\ndata: \{.*"name":"shop-stream"/);
    stop.abort();
  });

  test("has the caller's budget, the same as by the token itself", async () => {
    const { origin } = service;
    const api = await service.replace({ limits: { authenticatedPerMinute: 2 } });
    const seen = [];
    for (let call = 0; call < 3; call += 1) seen.push(await browser.fetch(`${origin}${LIST}`));
    expect(seen.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(seen[0]?.headers.get("x-ratelimit-limit")).toBe("2");
    await service.replace();
    expect(api.log.filter(({ message }) => message === "request answered").map(({ facts }) => facts.route)).toContain(
      "/api/environments",
    );
  });

  test("brings no credential but the session's: neither a header of its own, nor to the interface itself", async () => {
    const own = await browser.fetch("/console/api/v2/auth/user", { headers: { authorization: "Bearer svc_nonsense" } });
    expect(((await own.json()) as { data: { email: string } }).data.email).toBe(PERSON.email);
    expect((await browser.fetch("/api/v2/auth/user")).status).toBe(401);
  });

  test("gets no leave for pages elsewhere, whatever the settings list", async () => {
    const elsewhere = { origin: "https://elsewhere.test" };
    for (const path of [LIST, "/console/", "/console/auth/session", "/cli", "/"]) {
      const answer = await browser.fetch(path, { headers: elsewhere });
      expect([...answer.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
      const preflight = { ...elsewhere, "access-control-request-method": "POST" };
      const requested = await browser.fetch(path, { method: "OPTIONS", headers: preflight });
      expect([...requested.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
    const open = await browser.fetch("/api/v2/auth/login-options", { headers: elsewhere });
    expect(open.headers.get("access-control-allow-origin")).toBe("https://elsewhere.test");
  });
});

describe("without a session", () => {
  test("the interface answers as without a credential", async () => {
    const own = { "sec-fetch-site": "same-origin" };
    expect((await fetch(`${service.origin}${LIST}`, { headers: own })).status).toBe(401);
    expect((await fetch(`${service.origin}/console/api/v2/health`, { headers: own })).status).toBe(200);
    expect((await fetch(`${service.origin}/console/auth/session`, { headers: own })).status).toBe(401);
    const { value } = await service.api.makeToken("developer");
    const headers = { ...own, authorization: `Bearer ${value}` };
    expect((await fetch(`${service.origin}${LIST}`, { headers })).status).toBe(401);
  });
});

const SESSION_ENDPOINTS = [
  ...["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"].map((method) => [method, LIST] as const),
  ["GET", "/console/auth/session"],
  ["POST", "/console/auth/refresh"],
  ["POST", "/console/auth/logout"],
] as const;

/** A browser's, or an imitator's, headers on a request's origin. */
const FOREIGN: readonly (readonly [what: string, headers: (origin: string) => Record<string, string>])[] = [
  ["a sibling origin, whose request has the strict cookie", () => ({ "sec-fetch-site": "same-site" })],
  ["another site", () => ({ "sec-fetch-site": "cross-site" })],
  ["the address bar", () => ({ "sec-fetch-site": "none" })],
  ["who says it twice", () => ({ "sec-fetch-site": "same-origin, same-origin" })],
  ["a sibling origin of an old browser", (origin) => ({ origin: origin.replace("localhost", "env.localhost") })],
  ["the same host at another port", () => ({ origin: "http://localhost:1" })],
  ["a page without an origin", () => ({ origin: "null" })],
  ["who says neither", () => ({})],
  ["a sibling origin that has itself called ours", (origin) => ({ origin, "sec-fetch-site": "same-site" })],
];

describe.each(SESSION_ENDPOINTS)("%s %s", (method, path) => {
  test.each(FOREIGN)("is refused for %s", async (_what, headers) => {
    const before = service.api.environments.list().length;
    const cookie = browser.cookiesFor(new URL(service.origin), { isSameSite: true });
    expect(cookie).toContain("__Host-console=");
    const answer = await fetch(`${service.origin}${path}`, {
      method,
      redirect: "manual",
      headers: { cookie, ...headers(service.origin), ...json },
      ...(["POST", "PUT", "PATCH"].includes(method) && {
        body: JSON.stringify({ ...NEW, environment_name: "stolen" }),
      }),
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(service.api.environments.list()).toHaveLength(before);
  });
});

test("a page of an old browser is known by its origin", async () => {
  const cookie = browser.cookiesFor(new URL(service.origin), { isSameSite: true });
  const answer = await fetch(`${service.origin}${LIST}`, { headers: { cookie, origin: service.origin } });
  expect(answer.status).toBe(200);
});
