import { startIdentityProvider } from "../../../deploy/local/identity/provider.ts";
import { freePorts } from "../../support/fixtures/free-ports.ts";
import { shareSecret } from "../../support/fixtures/shared-secret.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { Browser } from "../../support/http/browser.ts";
import { logIn, SESSION_COOKIE } from "../../support/http/console-service.ts";
import { authorized, requestTokens } from "../../support/http/local-log-in.ts";
import { platformProcess } from "../../support/plane/platform-process.ts";
import type { World } from "../../support/worlds/environment-world.ts";

const EMAIL = "admin@example.test";
const CLIENT_SECRET = "console-client";
const ENOUGH = 1_000_000;

/** The platform's real process with its console, and an identity provider. */
export interface ServedConsole {
  readonly url: string;
  readonly token: string;
  readonly session: { readonly name: string; readonly value: string };
  stop(): Promise<void>;
}

/** Starts the console, and waits until it serves the existing environments. */
export async function servedConsole(world: World): Promise<ServedConsole> {
  // The identity provider needs the console's address before the console starts.
  const [port] = await freePorts(1);
  const url = `http://localhost:${port}`;
  const provider = await startIdentityProvider({ port: 0, consoleOrigin: url });
  const { issuer } = provider;
  await shareSecret(world, CLIENT_SECRET, provider.consoleSecret);
  const platform = await platformProcess(world.identity, {
    ...testSettings,
    leaderElection: true,
    console: { publicUrl: url, clientId: "console", clientSecret: { name: CLIENT_SECRET, key: "latest" } },
    api: {
      port,
      issuers: [{ issuer, audience: ["console", provider.clientId], roles: { admin: ["platform-admins"] } }],
      limits: { authenticatedPerMinute: ENOUGH, unauthenticatedPerMinute: ENOUGH, pagesPerMinute: ENOUGH },
    },
  });
  const stop = async () => {
    await platform.stop();
    await provider.close();
  };
  try {
    await platform.start();
    const { id_token: token } = await requestTokens(issuer, await authorized(provider, EMAIL));
    const serves = async () => {
      const reply = await fetch(`${url}/api/v2/environments?limit=1`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return reply.ok;
    };
    await until(serves, { what: "the environments being served", deadlineMs: 120_000 });
    const browser = new Browser();
    await logIn(browser, { origin: url, provider }, { email: EMAIL });
    const value = browser.cookies("localhost")[SESSION_COOKIE];
    if (value === undefined) throw new Error("the console gave no session");
    return { url, token, session: { name: SESSION_COOKIE, value }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
