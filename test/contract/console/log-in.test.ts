import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { Browser, type Page } from "../../support/http/browser.ts";
import { type ConsoleService, logIn, PERSON, startConsoleService } from "../../support/http/console-service.ts";

let service: ConsoleService;
beforeAll(async () => {
  service = await startConsoleService();
});
afterAll(() => service.stop());

const sessionOf = (browser: Browser) => browser.fetch(`${service.origin}/console/auth/session`);

describe("a log-in", () => {
  test("leads to the issuer and back to the page, whose session then says who it is of", async () => {
    const browser = new Browser();
    const page = await logIn(browser, service, { back: "/console/environments/shop?tab=logs" });
    expect(page.url).toBe(`${service.origin}/console/environments/shop?tab=logs`);
    const session = await sessionOf(browser);
    expect(session.status).toBe(200);
    const { email, name } = PERSON;
    const said = (await session.json()) as { readonly expires_at: string };
    expect(said).toEqual({ email, name, expires_at: expect.stringMatching(/^\d{4}-.*Z$/) });
    expect(Date.parse(said.expires_at)).toBeGreaterThan(Date.now());
    expect(service.api.log).toContainEqual({
      level: "info",
      message: "logged in at the console",
      facts: expect.objectContaining({ subject: `${service.provider.issuer}#${PERSON.sub}` }),
    });
  });

  test("asks the issuer by PKCE with a state and a nonce of its own, which are each time others", async () => {
    const requested = async () => {
      const page = await new Browser().open(`${service.origin}/console/auth/login`, { until: service.provider.issuer });
      return new URL(page.headers.get("location") ?? "").searchParams;
    };
    const [one, other] = [await requested(), await requested()];
    expect(Object.fromEntries(one)).toMatchObject({
      client_id: "console",
      response_type: "code",
      code_challenge_method: "S256",
      prompt: "consent",
      redirect_uri: `${service.origin}/console/auth/callback`,
      scope: "openid email profile offline_access",
    });
    for (const name of ["state", "nonce", "code_challenge"]) {
      expect(one.get(name)).toMatch(/^[\w-]{43}$/);
      expect(one.get(name)).not.toBe(other.get(name));
    }
  });

  test("keeps the session in a strict cookie for this host, over TLS, away from scripts; that of the log-in is gone", async () => {
    const browser = new Browser();
    const page = await logIn(browser, service);
    expect(page.url).toBe(`${service.origin}/console/`);
    expect(Object.keys(browser.cookies("localhost"))).toEqual(["__Host-console"]);
    const callback = browser.seen.find(({ url }) => url.includes("/console/auth/callback"));
    expect(callback?.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, "=…"))).toEqual([
      "__Host-console-login=…; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0",
      "__Host-console=…; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200",
    ]);
    const begun = browser.seen.find(({ url }) => url.includes("/console/auth/login"));
    expect(begun?.headers.getSetCookie().map((line) => line.replace(/=[^;]*/, "=…"))).toEqual([
      "__Host-console-login=…; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=600",
    ]);
  });

  // The browser stays on pages of the console in any case.
  test.each([
    ["another host", "https://evil.example/console/environments"],
    ["another host without a scheme", "//evil.example/console/environments"],
    ["another host by backslashes", "/\\evil.example/console/"],
    ["another host with ours as its user", "http://localhost@evil.example/console/"],
    ["a script", "javascript:alert(1)//console/"],
    ["the interface", "/api/v2/environments"],
    ["the interface by dots", "/console/../api/v2/environments"],
    ["the interface by encoded dots", "/console/%2e%2e/api/v2/environments"],
    ["the interface with the session", "/console/api/v2/environments"],
    ["another log-in", "/console/auth/login"],
    ["a folder that begins alike", "/console-x/"],
    ["a header", "/console/\r\nSet-Cookie: a=b"],
    ["too much", `/console/${"x".repeat(3_000)}`],
    ["nothing", ""],
  ])("comes back to the console's first page where it was to come back to %s", async (_what, back) => {
    const browser = new Browser();
    const page = await logIn(browser, service, { back });
    const isBroken = back.includes("\r\n");
    expect(page.url).toBe(isBroken ? `${service.origin}/console/Set-Cookie:%20a=b` : `${service.origin}/console/`);
    expect(Object.keys(browser.cookies("localhost"))).toEqual(["__Host-console"]);
  });

  test("is not taken from another browser, nor a second time, nor with another state", async () => {
    const [victim, attacker] = [new Browser(), new Browser()];
    const page = await attacker.open(`${service.origin}/console/auth/login`);
    const fields = { email: PERSON.email, password: service.provider.passwords[PERSON.email] ?? "" };
    const callback = `${service.origin}/console/auth/callback`;
    const stopped = await attacker.submit(page, fields, callback);
    const url = stopped.headers.get("location") ?? "";
    expect(url).toContain(callback);

    const planted = await victim.open(url);
    expect(planted).toMatchObject({ status: 400, text: expect.stringContaining("was begun in another browser") });
    await victim.open(`${service.origin}/console/auth/login`, { until: service.provider.issuer });
    const mixed = await victim.open(url);
    expect(mixed).toMatchObject({ status: 400, text: expect.stringContaining("invalid_response") });
    expect(victim.cookies("localhost")).toEqual({});

    expect((await attacker.open(url)).url).toBe(`${service.origin}/console/`);
    const again = await attacker.open(url);
    expect(again).toMatchObject({ status: 400, text: expect.stringContaining("It has expired") });
  });

  test.each(["http://a:99999", "http://other.example.test"])(
    "is asked for by its path alone, whatever '%s' before it says",
    async (before) => {
      const { hostname, port } = new URL(service.origin);
      const requested = request({ hostname, port, path: `${before}/console/auth/login` }).end();
      const [{ statusCode, headers }] = (await once(requested, "response")) as [IncomingMessage];
      expect({ statusCode, location: headers.location?.startsWith(service.provider.issuer) }).toEqual({
        statusCode: 303,
        location: true,
      });
      requested.destroy();
    },
  );

  test("that the issuer refuses says so, in text and not in markup", async () => {
    const browser = new Browser();
    const begun = await browser.open(`${service.origin}/console/auth/login`, { until: service.provider.issuer });
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state");
    const query = new URLSearchParams({
      error: "<b>access_denied</b>",
      state: `${state}`,
      iss: service.provider.issuer,
    });
    const page = await browser.open(`${service.origin}/console/auth/callback?${query}`);
    expect(page.status).toBe(400);
    expect(page.text).toContain("access_denied");
    expect(page.text).not.toContain("<b>");
    expect(page.headers.get("content-security-policy")).toBe("default-src 'none';frame-ancestors 'none'");
  });

  test("that has taken too long has to be begun again", async () => {
    const browser = new Browser();
    const page = await browser.open(`${service.origin}/console/auth/login`);
    service.api.clock.advance(601_000);
    const fields = { email: PERSON.email, password: service.provider.passwords[PERSON.email] ?? "" };
    const ended = await browser.submit(page, fields);
    expect(ended).toMatchObject({ status: 400, text: expect.stringContaining("It has expired") });
  });
});

test("a person who is no user of the installation sees the reason, and has no session", async () => {
  const strict = await startConsoleService({ issuer: { requiredClaims: { hd: ["elsewhere.test"] } } });
  const browser = new Browser();
  const page = await logIn(browser, strict);
  expect(page.status).toBe(403);
  expect(page.text).toContain("The ID token&#39;s claim &#39;hd&#39; has no value that is accepted here");
  expect(browser.cookies("localhost")).toEqual({});
  await strict.stop();
});

describe("while the issuer can't be used", () => {
  async function expectUnusable({ origin, api }: ConsoleService, page: Page) {
    expect(page.status).toBe(503);
    expect(page.text).toContain("The identity provider can&#39;t be used now");
    expect((await fetch(`${origin}/api/v2/auth/login-options`)).status).toBe(200);
    expect(api.log.filter(({ message }) => message === "the console's issuer can't be used")).toHaveLength(1);
  }

  test("because it is away, a log-in says so, and the rest is served", async () => {
    const away = await startConsoleService();
    await away.stopProvider();
    await expectUnusable(away, await new Browser().open(`${away.origin}/console/auth/login`));
    await away.stop();
  });

  test("because it does not take the console's secret, a log-in says so; with the right one the next works", async () => {
    const wrong = await startConsoleService();
    const share = (secret: string) => wrong.secretManager.share({ id: "console-client", labels: {}, values: [secret] });
    share("wrong");
    await expectUnusable(wrong, await logIn(new Browser(), wrong));
    share(wrong.provider.consoleSecret);
    expect(Object.keys((await wrong.loggedIn()).cookies("localhost"))).toEqual(["__Host-console"]);
    await wrong.stop();
  });
});
