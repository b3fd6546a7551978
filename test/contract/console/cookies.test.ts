import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Browser } from "../../support/http/browser.ts";
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

describe("a cookie", () => {
  let browser: Browser;
  let sealed: string;
  beforeAll(async () => {
    browser = await service.loggedIn();
    sealed = cookieOf(browser);
  });

  const flipped = (at: number) => {
    const other = sealed[at] === "A" ? "B" : "A";
    return `${sealed.slice(0, at)}${other}${sealed.slice(at + 1)}`;
  };
  test.each<[string, () => string]>([
    ["cut by a character", () => sealed.slice(0, -1)],
    ["cut to half", () => sealed.slice(0, sealed.length / 2)],
    ["without its text", () => sealed.slice(0, 40)],
    ["with another first character of its vector", () => flipped(2)],
    ["with another character of its tag", () => flipped(20)],
    ["with another character of its text", () => flipped(80)],
    ["with something behind", () => `${sealed}AAAA`],
    ["of the next version of the key, which is not there", () => sealed.replace(/^1/, "2")],
    ["of a version far away", () => sealed.replace(/^1/, "999999")],
    ["of version 0", () => sealed.replace(/^1/, "0")],
    ["without a version", () => sealed.slice(2)],
    ["of text", () => "1.nonsense"],
    ["that is empty", () => ""],
  ])("is none when it is one %s", async (_what, changed) => {
    browser.setCookie("localhost", SESSION_COOKIE, changed());
    expect((await session(browser)).status).toBe(401);
    browser.setCookie("localhost", SESSION_COOKIE, sealed);
    expect((await session(browser)).status).toBe(200);
  });

  test("of a log-in is none of a session", async () => {
    await browser.open(`${service.origin}/console/auth/login`, { until: service.provider.issuer });
    const { "__Host-console-login": login = "" } = browser.cookies("localhost");
    expect(login).not.toBe("");
    browser.setCookie("localhost", SESSION_COOKIE, login);
    expect((await session(browser)).status).toBe(401);
    browser.setCookie("localhost", SESSION_COOKIE, sealed);
  });

  test("shows nothing of its content, and differs each time", async () => {
    const { id, refresh: token } = await openedSession(service, sealed);
    const text = Buffer.from(sealed.slice(2), "base64url").toString("latin1");
    for (const secret of [id.slice(0, 20), `${token}`, PERSON.email]) expect(text + sealed).not.toContain(secret);
    expect(cookieOf(await service.loggedIn()).slice(0, 20)).not.toBe(sealed.slice(0, 20));
  });

  test("that is long comes in parts, which are forgotten when a shorter one follows", async () => {
    const large = await startConsoleService({ console: { scopes: ["openid", "email", "profile", "offline_access"] } });
    const own = await large.loggedIn();
    const first = cookieOf(own);
    for (const chunk of [1, 2]) own.setCookie("localhost", `${SESSION_COOKIE}-${chunk}`, "left");
    // A truncated cookie is invalid; a new log-in repairs it.
    expect((await session(own)).status).toBe(401);
    await own.open(`${large.origin}/console/auth/login`);
    expect(Object.keys(own.cookies("localhost"))).toEqual([SESSION_COOKIE]);
    expect(cookieOf(own)).not.toBe(first);
    expect((await session(own)).status).toBe(200);
    await large.stop();
  });
});

describe("another version of the key", () => {
  test("seals from now on, that before is good for what it sealed, and that before it no more", async () => {
    const rotated = await startConsoleService();
    const old = await rotated.loggedIn();
    const former = rotated.api;
    await rotated.replace({ console: { keyVersion: 2 } });
    expect((await session(old)).status).toBe(200);
    const young = await rotated.loggedIn();
    expect(cookieOf(young)).toMatch(/^2\./);

    // Replicas with the former settings know a new key at once: an upgrade logs no user out.
    rotated.serveFrom(former);
    expect((await session(young)).status).toBe(200);
    expect((await refresh(old)).status).toBe(200);

    await rotated.replace({ console: { keyVersion: 3 } });
    expect((await session(young)).status).toBe(200);
    expect((await session(old)).status).toBe(401);
    await rotated.stop();
  });

  test("can't be had while the secret manager is away, which is no log-out", async () => {
    const away = await startConsoleService();
    const browser = await away.loggedIn();
    const kept = cookieOf(browser);
    await away.replace();
    away.secretManager.setReachable(false);
    expect((await session(browser)).status).toBe(503);
    expect((await browser.fetch("/console/api/v2/environments")).status).toBe(503);
    expect(cookieOf(browser)).toBe(kept);
    away.secretManager.setReachable(true);
    expect((await session(browser)).status).toBe(200);
    await away.stop();
  });
});
