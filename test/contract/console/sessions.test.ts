import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import {
  type ConsoleService,
  cookieOf,
  openedSession,
  PERSON,
  refresh,
  SESSION_COOKIE,
  session,
  startConsoleService,
} from "../../support/http/console-service.ts";

let service: ConsoleService;
beforeAll(async () => {
  service = await startConsoleService();
});
afterAll(() => service.stop());

const opened = (sealed: string) => openedSession(service, sealed);

describe("a refresh", () => {
  test("gives the session new tokens, and moves no end of it", async () => {
    const browser = await service.loggedIn();
    const before = await opened(cookieOf(browser));
    const answer = await refresh(browser);
    expect(answer.status).toBe(200);
    const { email, name } = PERSON;
    expect(await answer.json()).toEqual({ email, name, expires_at: expect.any(String) });
    const after = await opened(cookieOf(browser));
    expect(after.refresh).not.toBe(before.refresh);
    expect(after.ends).toBe(before.ends);
    expect((await session(browser)).status).toBe(200);
  });

  test("happens once, however many ask for it at the same moment or shortly after with the former cookie", async () => {
    const browser = await service.loggedIn();
    const former = cookieOf(browser);
    const answers = await Promise.all(Array.from({ length: 10 }, () => refresh(browser)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
    const followed = cookieOf(browser);
    browser.setCookie("localhost", SESSION_COOKIE, former);
    expect((await refresh(browser)).status).toBe(200);
    expect((await opened(cookieOf(browser))).refresh).toBe((await opened(followed)).refresh);
    // The issuer has seen each refresh token once; otherwise it would have ended all of them.
    service.api.clock.advance(31_000);
    expect((await refresh(browser)).status).toBe(200);
  });

  test("with a token that was used before ends the session, at the issuer, too", async () => {
    const browser = await service.loggedIn();
    const former = cookieOf(browser);
    await refresh(browser);
    const followed = cookieOf(browser);
    service.api.clock.advance(31_000);
    browser.setCookie("localhost", SESSION_COOKIE, former);
    expect((await refresh(browser)).status).toBe(401);
    expect(cookieOf(browser)).toBe("");
    browser.setCookie("localhost", SESSION_COOKIE, followed);
    expect((await refresh(browser)).status).toBe(401);
  });

  test("is tried again when the issuer could not be reached, and the session stays", async () => {
    const away = await startConsoleService();
    const browser = await away.loggedIn();
    const kept = cookieOf(browser);
    await away.stopProvider();
    const answer = await refresh(browser);
    expect(answer.status).toBe(503);
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(cookieOf(browser)).toBe(kept);
    expect((await session(browser)).status).toBe(200);
    await away.stop();
  });

  test("is kept although its new ID token can't be judged now: the former refresh token is used up", async () => {
    const own = await startConsoleService();
    const browser = await own.loggedIn();
    const former = await openedSession(own, cookieOf(browser));
    const { api } = own;
    await own.replace({ issuer: { jwksUri: `${own.origin}/no-keys` } });
    expect((await refresh(browser)).status).toBe(503);
    expect((await openedSession(own, cookieOf(browser))).refresh).not.toBe(former.refresh);
    own.serveFrom(api);
    expect((await refresh(browser)).status).toBe(200);
    await own.stop();
  });

  test("is refused without a session, and to one without a refresh token", async () => {
    const plain = await startConsoleService({ console: { scopes: ["openid", "email", "profile"] } });
    const browser = await plain.loggedIn();
    expect((await session(browser)).status).toBe(200);
    expect((await refresh(browser)).status).toBe(401);
    expect(cookieOf(browser)).toBe("");
    expect((await refresh(browser)).status).toBe(401);
    await plain.stop();
  });
});

describe("a session", () => {
  test("is that of an ID token: when it has expired, the interface says so, until it is refreshed", async () => {
    const browser = await service.loggedIn();
    const api = service.api;
    const later = await service.replace();
    later.clock.advance(3_700_000);
    expect((await session(browser)).status).toBe(401);
    expect((await browser.fetch("/console/api/v2/environments")).status).toBe(401);
    expect(cookieOf(browser)).not.toBe("");
    service.serveFrom(api);
    expect((await refresh(browser)).status).toBe(200);
  });

  test("ends when the settings say so, whatever the issuer would still give", async () => {
    const browser = await service.loggedIn();
    const api = service.api;
    (await service.replace()).clock.advance(12 * 3_600_000);
    expect((await session(browser)).status).toBe(401);
    expect((await refresh(browser)).status).toBe(401);
    service.serveFrom(api);
  });

  test("is known to each replica", async () => {
    const browser = await service.loggedIn();
    await service.replace();
    expect((await session(browser)).status).toBe(200);
  });

  test("ends with a log-out: here, what its refresh token is good for, and then at the issuer", async () => {
    const browser = await service.loggedIn();
    const { refresh: token } = await opened(cookieOf(browser));
    const copy = cookieOf(browser);
    const page = await browser.open(`${service.origin}/console/auth/logout`, { method: "POST" });
    expect(cookieOf(browser)).toBe("");
    expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
    const [, address = ""] = /http-equiv="refresh" content="0;url=([^"]*)"/.exec(page.text) ?? [];
    const onwards = address.replaceAll("&#38;", "&");
    expect(new URL(onwards).origin).toBe(service.provider.issuer);
    // No token is in an address, where histories and logs would keep it.
    expect(onwards).not.toMatch(/id_token_hint|eyJ/);
    const requested = await browser.open(onwards);
    const ended = await browser.submit(requested, { logout: "yes" });
    const { origin, pathname } = new URL(ended.url);
    expect(`${origin}${pathname}`).toBe(`${service.origin}/console/`);

    const authorization = `Basic ${Buffer.from(`console:${service.provider.consoleSecret}`).toString("base64")}`;
    const again = await fetch(`${service.provider.issuer}/token`, {
      method: "POST",
      headers: { authorization },
      body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: `${token}` }),
    });
    expect(await again.json()).toMatchObject({ error: "invalid_grant" });
    browser.setCookie("localhost", SESSION_COOKIE, copy);
    expect((await refresh(browser)).status).toBe(401);
    // The issuer asks for the password again.
    const next = await browser.open(`${service.origin}/console/auth/login`);
    expect(next.text).toContain('name="password"');
  });

  test("ends here although the issuer is away", async () => {
    const away = await startConsoleService();
    const browser = await away.loggedIn();
    await away.stopProvider();
    // Discovered endpoints are cached for a while.
    away.api.clock.advance(301_000);
    const page = await browser.open(`${away.origin}/console/auth/logout`, {
      method: "POST",
      until: `${away.origin}/console/`,
    });
    expect(page.status).toBe(303);
    expect(cookieOf(browser)).toBe("");
    await away.stop();
  });
});

test("no token is in anything that a page can read", async () => {
  const browser = await service.loggedIn();
  const { id, refresh: first } = await opened(cookieOf(browser));
  const answers = [];
  for (const path of [
    "/console/auth/session",
    "/console/api/v2/auth/user",
    "/console/api/v2/environments",
    "/console/",
  ]) {
    answers.push(await browser.fetch(path));
  }
  answers.push(await refresh(browser));
  const { id: second, refresh: third } = await opened(cookieOf(browser));
  answers.push(await browser.fetch("/console/auth/logout", { method: "POST" }));
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  // HttpOnly: the one header that scripts never read.
  const headers = answers.flatMap((answer) => [...answer.headers].filter(([name]) => name !== "set-cookie").flat());
  const navigations = browser.seen.flatMap(({ text, headers: own, url }) => [text, url, own.get("location") ?? ""]);
  const readable = [...texts, ...headers, ...navigations].join("\n");
  for (const token of [id, second, `${first}`, `${third}`]) expect(readable.includes(token)).toBe(false);
  expect(readable).not.toMatch(/eyJ[\w-]{10,}\.[\w-]{10,}\./);
  const logged = JSON.stringify(service.api.log);
  for (const token of [id, second, `${first}`, `${third}`]) expect(logged.includes(token)).toBe(false);
});
