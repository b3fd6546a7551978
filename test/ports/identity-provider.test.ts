import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../crds/sensitive.ts";
import { startIdentityProvider } from "../../deploy/local/identity-provider.ts";
import { googleIdentityProvider } from "../../operator/adapters/google-identity-provider.ts";
import { localIdentityProvider } from "../../operator/adapters/local-identity-provider.ts";
import { IdentityProviderUnavailable } from "../../operator/ports/identity-provider.ts";
import { type IdentityToolkit, startIdentityToolkit, TOOLKIT_KEY } from "../support/identity-toolkit.ts";
import { memoryIdentityProvider } from "../support/memory-identity-provider.ts";
import { identityProviderSuite } from "./identity-provider.suite.ts";

const ACCOUNT = "dev@example.test";

identityProviderSuite("in memory", async () => {
  const provider = memoryIdentityProvider(ACCOUNT);
  return {
    provider,
    sentTo: (email) => provider.sentTo.filter((sent) => sent === email).length,
    goAway: async () => {
      provider.away = true;
    },
    stop: async () => undefined,
  };
});

identityProviderSuite("of the local cluster", async () => {
  const server = await startIdentityProvider({ port: 0 });
  let running = true;
  const close = async () => {
    if (running) await server.close();
    running = false;
  };
  return {
    provider: localIdentityProvider(server.issuer),
    sentTo: (email) => server.mails.filter(({ to }) => to === email).length,
    goAway: close,
    stop: close,
  };
});

identityProviderSuite("of Google", async () => {
  const toolkit = await startIdentityToolkit(ACCOUNT);
  return {
    provider: googleIdentityProvider({ apiKey: new Sensitive(TOOLKIT_KEY), endpoint: toolkit.endpoint }),
    // What Google answers 200 to, it mails.
    sentTo: (email) =>
      email === ACCOUNT ? toolkit.calls.filter(({ body }) => String(body.email).toLowerCase() === email).length : 0,
    goAway: async () => toolkit.failWith(503, "{}"),
    stop: () => toolkit.stop(),
  };
});

describe("Google's identity provider", () => {
  let toolkit: IdentityToolkit;
  beforeAll(async () => {
    toolkit = await startIdentityToolkit(ACCOUNT);
  });
  afterEach(() => toolkit.recover());
  afterAll(() => toolkit.stop());
  const provider = (key = TOOLKIT_KEY) =>
    googleIdentityProvider({
      apiKey: new Sensitive(key),
      tenantId: "tenant-1",
      continueUrl: "https://portal.example.test/",
      endpoint: toolkit.endpoint,
    });
  const send = (key?: string) => provider(key).sendPasswordReset(ACCOUNT, new AbortController().signal);

  test("is asked as its reference says, with the key where no log shows it", async () => {
    await send();
    expect(toolkit.calls.at(-1)).toEqual({
      path: "/v1/accounts:sendOobCode",
      key: TOOLKIT_KEY,
      body: {
        requestType: "PASSWORD_RESET",
        email: ACCOUNT,
        tenantId: "tenant-1",
        continueUrl: "https://portal.example.test/",
      },
    });
  });

  test.each([
    ["an account's own limit", 400, { error: { message: "RESET_PASSWORD_EXCEED_LIMIT" } }],
    ["a closed account", 400, { error: { message: "USER_DISABLED : The user account has been disabled." } }],
  ])("keeps %s to itself", async (_what, status, body) => {
    toolkit.failWith(status, JSON.stringify(body));
    await expect(send()).resolves.toBeUndefined();
  });

  test.each<[string, number, string, Record<string, string>]>([
    ["a project's limit", 429, '{"error":{"message":"QUOTA_EXCEEDED : Exceeded daily quota"}}', {}],
    ["a way that is not open", 400, '{"error":{"message":"OPERATION_NOT_ALLOWED"}}', {}],
    ["an answer that is no JSON", 500, "<html>oops</html>", {}],
    ["an answer without end", 200, "x".repeat(100_000), {}],
    ["a redirect", 302, "", { location: "https://elsewhere.example.test/" }],
  ])("tells %s from done", async (_what, status, body, headers) => {
    toolkit.failWith(status, body, headers);
    await expect(send()).rejects.toThrow(IdentityProviderUnavailable);
  });

  test("shows neither key nor address when it is refused", async () => {
    const error = await send("wrong-key").catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IdentityProviderUnavailable);
    expect(String(error)).not.toMatch(/wrong-key|dev@/);
  });
});
