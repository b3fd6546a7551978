import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { localAccounts } from "../../../../../deploy/local/identity/accounts.ts";
import { type IdentityProvider, startIdentityProvider } from "../../../../../deploy/local/identity/provider.ts";
import { signedIdToken } from "../../../../../deploy/local/identity/tokens.ts";
import { Browser } from "../../../../support/http/browser.ts";
import { authorizationUrl, authorized, requestTokens } from "../../../../support/http/local-log-in.ts";
import { rawConnection } from "../../../../support/http/raw-connection.ts";

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

  const logIn = async (at: IdentityProvider, email: string) => requestTokens(at.issuer, await authorized(at, email));

  test.each(localAccounts)(
    "gives $email an ID token with its groups and its domain",
    async ({ email, subject, name, groups }) => {
      const claims = await verified((await logIn(provider, email)).id_token);
      expect(claims).toMatchObject({ sub: subject, email, name, groups, email_verified: true, hd: "example.test" });
    },
  );

  test("refreshes an ID token", async () => {
    const { refresh_token } = await logIn(provider, "dev@example.test");
    const again = await requestTokens(provider.issuer, { grant_type: "refresh_token", refresh_token });
    expect(await verified(again.id_token)).toMatchObject({
      sub: "u-dev",
      groups: ["platform-developers", "shop-team"],
    });
  });

  test("logs in through its page, once, with an authorization code and PKCE", async () => {
    const browser = new Browser();
    const page = await browser.open(authorizationUrl(provider.issuer, "verifier"));
    expect(page.text).toContain('name="password"');
    const refused = await browser.submit(page, { email: "dev@example.test", password: "wrong" });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("The e-mail address or the password is wrong.");

    const exchange = await authorized(provider, "dev@example.test");
    const tokens = await requestTokens(provider.issuer, exchange);
    expect(await verified(tokens.id_token)).toMatchObject({ sub: "u-dev", email: "dev@example.test" });
    await expect(requestTokens(provider.issuer, exchange)).rejects.toThrow("invalid_grant");
  });

  describe("abuse case 92: for tokens without a browser", () => {
    const password = (email: string, own: string | undefined) => ({
      grant_type: "password",
      username: email,
      password: own ?? "",
    });

    test("takes no password unless that was asked for", async () => {
      const attempt = password("dev@example.test", provider.passwords["dev@example.test"]);
      await expect(requestTokens(provider.issuer, attempt)).rejects.toThrow("unsupported_grant_type");
    });

    test("takes the right one, and no other, where it was", async () => {
      const own = await startIdentityProvider({ port: 0, passwordGrant: true });
      const { "dev@example.test": right, "admin@example.test": another } = own.passwords;
      const tokens = await requestTokens(own.issuer, password("dev@example.test", right));
      expect(await verified(tokens.id_token, own.issuer)).toMatchObject({ sub: "u-dev" });
      for (const [email, wrong] of [
        ["dev@example.test", "wrong"],
        ["dev@example.test", another],
        ["dev@example.test", ""],
        ["nobody@example.test", ""],
        ["nobody@example.test", right],
      ] as const) {
        await expect(requestTokens(own.issuer, password(email, wrong))).rejects.toThrow("invalid_grant");
      }
      await own.close();
    });
  });

  test("answers a log-in that was never begun with a page, not with a stack", async () => {
    const reply = await fetch(`${provider.issuer}/interaction/unknown`);
    expect(reply.status).toBe(400);
    expect(await reply.text()).not.toContain("    at ");
  });

  test.each(["//", "//[", "*"])("answers a request for %s and serves on", async (target) => {
    const request = `GET ${target} HTTP/1.1\r\nHost: provider\r\nConnection: close\r\n\r\n`;
    expect(await rawConnection(provider.issuer, request).status()).toBe(404);
    expect((await fetch(`${provider.issuer}/.well-known/openid-configuration`)).status).toBe(200);
  });

  test("lets the holder of a mailed link set a new password, once", async () => {
    const own = await startIdentityProvider({ port: 0, passwordGrant: true });
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
    const former = { ...grant, password: own.passwords["viewer@example.test"] ?? "" };
    await expect(requestTokens(own.issuer, former)).rejects.toThrow("invalid_grant");
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

  describe("with a folder", () => {
    let stateDir: string;

    beforeEach(async () => {
      stateDir = await mkdtemp(join(tmpdir(), "identity-provider-"));
    });

    afterEach(() => rm(stateDir, { recursive: true }));

    test("keeps its key and its passwords there, for its owner's eyes alone", async () => {
      const restarted = async () => {
        const own = await startIdentityProvider({ port: 0, stateDir });
        const { id_token } = await logIn(own, "dev@example.test");
        await own.close();
        return { kid: decodeProtectedHeader(id_token).kid, passwords: own.passwords };
      };
      const first = await restarted();
      expect(await restarted()).toEqual(first);
      expect(JSON.parse(await readFile(join(stateDir, "passwords.json"), "utf8"))).toEqual(first.passwords);
      for (const file of await readdir(stateDir)) expect((await stat(join(stateDir, file))).mode & 0o077).toBe(0);
    });

    test("has no password that another one has", async () => {
      const own = await startIdentityProvider({ port: 0, stateDir });
      const all = [...Object.values(own.passwords), ...Object.values(provider.passwords)];
      expect(new Set(all).size).toBe(2 * localAccounts.length);
      await own.close();
    });

    test.each(localAccounts)("lets its owner sign the token that a log-in gives $email", async ({ email }) => {
      const own = await startIdentityProvider({ port: 0, stateDir });
      const given = await verified((await logIn(own, email)).id_token, own.issuer);
      const signed = await verified(await signedIdToken(stateDir, own.issuer, email), own.issuer);
      const { at_hash: _, nonce: __, ...lasting } = given;
      const times = { auth_time: expect.any(Number), iat: expect.any(Number), exp: expect.any(Number) };
      expect(signed).toEqual({ ...lasting, ...times });
      expect((signed.exp ?? 0) - (signed.iat ?? 0)).toBe((given.exp ?? 0) - (given.iat ?? 0));
      await own.close();
    });

    test("has nothing to sign with before it was started once", async () => {
      await expect(signedIdToken(stateDir, "http://127.0.0.1:1", "dev@example.test")).rejects.toThrow("ENOENT");
      await expect(signedIdToken(stateDir, "http://127.0.0.1:1", "eve@example.test")).rejects.toThrow("is no account");
    });
  });
});
