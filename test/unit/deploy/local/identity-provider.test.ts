import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { localAccounts } from "../../../../deploy/local/identity/accounts.ts";
import { logInAs, requestTokens } from "../../../../deploy/local/identity/tokens.ts";
import { type IdentityProvider, startIdentityProvider } from "../../../../deploy/local/identity-provider.ts";

describe("the local identity provider", () => {
  let provider: IdentityProvider;

  beforeAll(async () => {
    provider = await startIdentityProvider({ port: 0 });
  });

  afterAll(() => provider.close());

  async function verified(token: string, issuer = provider.issuer) {
    const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
    return (await jwtVerify(token, keys, { issuer, audience: "ephemeral", algorithms: ["RS256"] })).payload;
  }

  test.each(localAccounts)(
    "gives $email an ID token with its groups and its domain",
    async ({ email, subject, name, groups }) => {
      const claims = await verified((await logInAs(provider.issuer, email)).id_token);
      expect(claims).toMatchObject({ sub: subject, email, name, groups, email_verified: true, hd: "example.test" });
    },
  );

  test("refreshes an ID token", async () => {
    const { refresh_token } = await logInAs(provider.issuer, "dev@example.test");
    const again = await requestTokens(provider.issuer, { grant_type: "refresh_token", refresh_token });
    expect(await verified(again.id_token)).toMatchObject({
      sub: "u-dev",
      groups: ["platform-developers", "shop-team"],
    });
  });

  test.each([
    { name: "a wrong password", username: "dev@example.test", password: "wrong" },
    { name: "another account's password", username: "dev@example.test", password: "admin-local" },
    { name: "an empty password", username: "dev@example.test", password: "" },
    { name: "an unknown address", username: "nobody@example.test", password: "" },
  ])("refuses $name", async ({ username, password }) => {
    const attempt = requestTokens(provider.issuer, { grant_type: "password", username, password });
    await expect(attempt).rejects.toThrow("invalid_grant");
  });

  test("logs in through its page, once, with an authorization code and PKCE", async () => {
    const browser = new Browser();
    const verifier = randomBytes(32).toString("base64url");
    const page = await browser.open(authorizationUrl(provider.issuer, verifier));
    expect(await page.text()).toContain('name="password"');

    const refused = await browser.submit(page.url, { email: "dev@example.test", password: "wrong" });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain("The e-mail address or the password is wrong.");

    const back = await browser.submit(page.url, { email: "dev@example.test", password: "dev-local" });
    const code = new URL(back.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const exchange = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: comeBack };
    const tokens = await requestTokens(provider.issuer, exchange);
    expect(await verified(tokens.id_token)).toMatchObject({ sub: "u-dev", email: "dev@example.test" });
    await expect(requestTokens(provider.issuer, exchange)).rejects.toThrow("invalid_grant");
  });

  test("answers a log-in that was never begun with a page, not with a stack", async () => {
    const reply = await fetch(`${provider.issuer}/interaction/unknown`);
    expect(reply.status).toBe(400);
    expect(await reply.text()).not.toContain("    at ");
  });

  test("lets the holder of a mailed link set a new password, once", async () => {
    const own = await startIdentityProvider({ port: 0 });
    const body = JSON.stringify({ email: "viewer@example.test" });
    expect((await fetch(`${own.issuer}/password-reset`, { method: "POST", body })).status).toBe(202);
    const [mail] = own.mails;
    expect(mail?.to).toBe("viewer@example.test");
    const link = /http:[^\s]+/.exec(mail?.text ?? "")?.[0] ?? "";
    const enter = (password: string) => fetch(link, { method: "POST", body: new URLSearchParams({ password }) });

    expect(await (await fetch(link)).text()).toContain('name="password"');
    expect((await enter("short")).status).toBe(400);
    expect((await enter("a new password")).status).toBe(200);
    const grant = { grant_type: "password", username: "viewer@example.test" };
    const tokens = await requestTokens(own.issuer, { ...grant, password: "a new password" });
    expect(await verified(tokens.id_token, own.issuer)).toMatchObject({ sub: "u-viewer" });
    await expect(logInAs(own.issuer, "viewer@example.test")).rejects.toThrow("invalid_grant");
    expect((await enter("another password")).status).toBe(400);
    expect((await fetch(`${link}x`)).status).toBe(400);
    await own.close();
  });

  test("ends all links of an account with the first new password, also of two at the same moment", async () => {
    const own = await startIdentityProvider({ port: 0 });
    const body = JSON.stringify({ email: "viewer@example.test" });
    for (let count = 0; count < 2; count += 1) await fetch(`${own.issuer}/password-reset`, { method: "POST", body });
    const [first = "", second = ""] = own.mails.map(({ text }) => /http:[^\s]+/.exec(text)?.[0] ?? "");
    const enter = async (link: string, password: string) =>
      (await fetch(link, { method: "POST", body: new URLSearchParams({ password }) })).status;

    const both = await Promise.all([enter(first, "one password"), enter(first, "other password")]);
    expect(both.sort()).toEqual([200, 400]);
    expect(await enter(second, "third password")).toBe(400);
    await own.close();
  });

  test("keeps its key in its folder, so that tokens outlive a restart", async () => {
    const stateDir = await mkdtemp(join(tmpdir(), "identity-provider-"));
    const keyIdOf = async () => {
      const restarted = await startIdentityProvider({ port: 0, stateDir });
      const { id_token } = await logInAs(restarted.issuer, "dev@example.test");
      await restarted.close();
      return decodeProtectedHeader(id_token).kid;
    };
    expect(await keyIdOf()).toBe(await keyIdOf());
    await rm(stateDir, { recursive: true });
  });
});

const comeBack = "http://127.0.0.1:8765/callback";

function authorizationUrl(issuer: string, verifier: string): string {
  const challenge = createHash("sha256").update(verifier).digest("base64url");
  const query = new URLSearchParams({
    ...{ client_id: "ephemeral", response_type: "code", scope: "openid email profile", redirect_uri: comeBack },
    ...{ code_challenge: challenge, code_challenge_method: "S256", state: "s", nonce: "n" },
  });
  return `${issuer}/auth?${query}`;
}

/** Keeps cookies and follows redirects like a browser, up to the one that leaves the provider. */
class Browser {
  #cookies = new Map<string, string>();

  async open(url: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const reply = await fetch(url, { ...init, redirect: "manual", headers: { cookie } });
    for (const line of reply.headers.getSetCookie()) this.#keep(line);
    const location = reply.headers.get("location");
    if (!location || location.startsWith(comeBack)) return reply;
    return this.open(new URL(location, url).href);
  }

  submit(url: string, form: Record<string, string>): Promise<Response> {
    return this.open(url, { method: "POST", body: new URLSearchParams(form) });
  }

  #keep(line: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
    if (value) this.#cookies.set(name, value);
    else this.#cookies.delete(name);
  }
}
