import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { createRemoteJWKSet, jwtVerify } from "jose";
import { type IdentityProvider, startIdentityProvider } from "../../../../../deploy/local/identity/provider.ts";
import { Browser } from "../../../../support/http/browser.ts";
import { authorized, requestTokens } from "../../../../support/http/local-log-in.ts";

const EMAIL = "dev@example.test";
const client_id = "eenv";
const requested = { client_id, scope: "openid email profile offline_access", prompt: "consent" };

describe("the local identity provider, for the command line", () => {
  let provider: IdentityProvider;
  beforeAll(async () => {
    provider = await startIdentityProvider({ port: 0 });
  });
  afterAll(() => provider.close());

  async function verified(token: string) {
    const keys = createRemoteJWKSet(new URL(`${provider.issuer}/jwks`));
    return (await jwtVerify(token, keys, { issuer: provider.issuer, audience: client_id })).payload;
  }

  const refresh = (token: string) =>
    requestTokens(provider.issuer, { grant_type: "refresh_token", client_id, refresh_token: token });

  test("gives no refresh token to who asks for no offline access", async () => {
    const tokens = await requestTokens(provider.issuer, await authorized(provider, EMAIL, { client_id }));
    expect(tokens).not.toHaveProperty("refresh_token");
  });

  test("gives refresh tokens that are good once: with a second use all of the log-in end", async () => {
    const { id_token, refresh_token } = await requestTokens(
      provider.issuer,
      await authorized(provider, EMAIL, requested),
    );
    expect(await verified(id_token)).toMatchObject({ sub: "u-dev" });
    const second = await refresh(refresh_token);
    expect(await verified(second.id_token)).toMatchObject({
      sub: "u-dev",
      groups: ["platform-developers", "shop-team"],
    });
    await expect(refresh(refresh_token)).rejects.toThrow("invalid_grant");
    await expect(refresh(second.refresh_token)).rejects.toThrow("invalid_grant");
  });

  test("lets a program without a browser in once a person has confirmed its code and logged in", async () => {
    const body = new URLSearchParams({ client_id, scope: requested.scope });
    const begun = await (await fetch(`${provider.issuer}/device/auth`, { method: "POST", body })).json();
    const { device_code, user_code, verification_uri } = begun as Record<string, string>;
    const grant = {
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      client_id,
      device_code: `${device_code}`,
    };
    await expect(requestTokens(provider.issuer, grant)).rejects.toThrow("authorization_pending");

    const browser = new Browser();
    const entry = await browser.open(`${verification_uri}`);
    expect((await browser.submit(entry, { user_code: "AAAA-AAAA" })).text).toContain("This code is not known");
    const shown = await browser.submit(await browser.open(`${verification_uri}`), { user_code: `${user_code}` });
    expect(shown.text).toContain(`<code>${user_code}</code>`);
    const logIn = await browser.submit(shown);
    const done = await browser.submit(logIn, { email: EMAIL, password: provider.passwords[EMAIL] ?? "" });
    expect(done.text).toContain("The program is logged in.");
    expect(await verified((await requestTokens(provider.issuer, grant)).id_token)).toMatchObject({ sub: "u-dev" });
  });
});
