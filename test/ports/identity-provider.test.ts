import { once } from "node:events";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { PassThrough } from "node:stream";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { Sensitive } from "../../crds/sensitive.ts";
import { startIdentityProvider } from "../../deploy/local/identity/provider.ts";
import { googleIdentityProvider } from "../../operator/adapters/google/identity-provider.ts";
import { localIdentityProvider } from "../../operator/adapters/identity-provider/call.ts";
import { winstonLog } from "../../operator/kit/log.ts";
import { IdentityProviderUnavailable } from "../../operator/ports/api/identity-provider.ts";
import { type IdentityToolkit, startIdentityToolkit, TOOLKIT_KEY } from "../support/doubles/identity-toolkit.ts";
import { memoryIdentityProvider } from "../support/doubles/memory/identity-provider.ts";
import { identityProviderSuite } from "./suites/identity-provider.suite.ts";

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
  const provider = localIdentityProvider(server.issuer);
  return {
    provider,
    sentTo: (email) => server.mails.filter(({ to }) => to === email).length,
    async goAway() {
      await close();
      // A kept connection breaks, with an unclear result; from then on there is none.
      await provider.sendPasswordReset(ACCOUNT, new AbortController().signal).catch(() => undefined);
    },
    stop: close,
  };
});

identityProviderSuite("of Google", async () => {
  const toolkit = await startIdentityToolkit(ACCOUNT);
  return {
    provider: googleIdentityProvider({ apiKey: new Sensitive(TOOLKIT_KEY), endpoint: toolkit.endpoint }),
    // Google mails what it answers with 200.
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

  test.each<[string, boolean, Parameters<IdentityToolkit["failWith"]>]>([
    ["a project's limit", true, [429, '{"error":{"message":"QUOTA_EXCEEDED : Exceeded daily quota"}}']],
    ["a way that is not open", false, [400, '{"error":{"message":"OPERATION_NOT_ALLOWED"}}']],
    ["an answer that is no JSON", true, [500, "<html>oops</html>"]],
    ["an answer without end", false, [200, "x".repeat(100_000)]],
    ["a redirect", false, [302, "", { location: "https://elsewhere.example.test/" }]],
  ])("tells %s from done, and whether it passes: %s", async (_what, mayAskAgain, failure) => {
    toolkit.failWith(...failure);
    const error = await send().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IdentityProviderUnavailable);
    expect(error).toMatchObject({ mayAskAgain });
  });

  test.each<[string, () => void, string]>([
    ["it is refused", () => undefined, "wrong-key"],
    ["it fails", () => toolkit.failWith(503, "{}"), TOOLKIT_KEY],
    ["it answers without end", () => toolkit.failWith(200, "x".repeat(100_000)), TOOLKIT_KEY],
    ["it leads elsewhere", () => toolkit.failWith(302, "", { location: "https://x.example.test/" }), TOOLKIT_KEY],
  ])("shows neither key nor address in the log when %s", async (_when, happens, key) => {
    happens();
    const error = await send(key).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(IdentityProviderUnavailable);
    expect(logged(error)).not.toMatch(new RegExp(`${key}|dev@`));
  });
});

test("a provider that may have done it is not to be asked again: its connection broke after the question", async () => {
  const server = createServer((request) => request.socket.destroy()).listen(0, "127.0.0.1");
  await once(server, "listening");
  const provider = localIdentityProvider(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const error = await provider.sendPasswordReset(ACCOUNT, new AbortController().signal).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(IdentityProviderUnavailable);
  expect(error).toMatchObject({ mayAskAgain: false });
  expect(logged(error)).not.toContain("dev@");
  server.close();
  await once(server, "close");
});

test("the local provider's link leads to the provider, whatever host it was asked by", async () => {
  const server = await startIdentityProvider({ port: 0 });
  const requested = request(`${server.issuer}/password-reset`, {
    method: "POST",
    headers: { host: "evil.example.test", "x-forwarded-host": "evil.example.test" },
  });
  requested.end(JSON.stringify({ email: ACCOUNT }));
  const [reply] = (await once(requested, "response")) as [IncomingMessage];
  reply.resume();
  expect(reply.statusCode).toBe(202);
  const [mail] = server.mails;
  expect(mail?.text).toContain(` ${server.issuer}/password-reset?token=`);
  expect(mail?.text).not.toContain("evil");
  await server.close();
});

function logged(error: unknown): string {
  const stream = new PassThrough();
  winstonLog({ level: "error", stream }).error("a password reset was not sent", { error });
  return String(stream.read());
}
