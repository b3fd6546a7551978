import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { keyRing } from "../../../api/console/keys.ts";
import { createSeal } from "../../../api/console/seal.ts";
import type { StoredSession } from "../../../api/console/sessions.ts";
import { type IdentityProvider, startIdentityProvider } from "../../../deploy/local/identity/provider.ts";
import { consoleSecrets } from "../../../operator/adapters/platform-keys/platform-keys.ts";
import { type MemorySecretManager, memorySecretManager } from "../doubles/memory/secret-manager.ts";
import { type ApiService, type ServiceOptions, startApiService } from "./api-service.ts";
import { Browser, type Page } from "./browser.ts";

/** A person of the local identity provider, a developer in `shop-team`. */
export const PERSON = { email: "dev@example.test", name: "Dana Developer", sub: "u-dev" };

/** Makes tests independent of the checkout's built clients. */
const NOTHING_BUILT = join(import.meta.dirname, "nothing-built");

/** The API with its console, over HTTP, and a real identity provider. */
export interface ConsoleService {
  /** The console's origin: for cookies, another site than the provider's. */
  readonly origin: string;
  readonly provider: IdentityProvider;
  readonly secretManager: MemorySecretManager;
  /** The serving replica. */
  readonly api: ApiService;
  replace(options?: ReplicaOptions): Promise<ApiService>;
  serveFrom(api: ApiService): void;
  /** A browser with a log-in. */
  loggedIn(): Promise<Browser>;
  /** Stops the identity provider for good. */
  stopProvider(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicaOptions extends Pick<ServiceOptions, "limits" | "clientsFolder"> {
  readonly api?: Readonly<Record<string, unknown>>;
  readonly console?: Readonly<Record<string, unknown>>;
  readonly issuer?: Readonly<Record<string, unknown>>;
}

/** A session's cookie, and its use by the console's pages. */
export const SESSION_COOKIE = "__Host-console";
export const cookieOf = (browser: Browser) => browser.cookies("localhost")[SESSION_COOKIE] ?? "";
export const session = (browser: Browser) => browser.fetch("/console/auth/session");
export const refresh = (browser: Browser) => browser.fetch("/console/auth/refresh", { method: "POST" });

export async function startConsoleService(options: ReplicaOptions = {}): Promise<ConsoleService> {
  let api: ApiService | undefined;
  const server = createServer((request, response) => api?.app(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  const provider = await startIdentityProvider({ port: 0, consoleOrigin: origin });
  const secretManager = memorySecretManager();
  secretManager.share({ id: "console-client", labels: {}, values: [provider.consoleSecret] });
  const replicas: ApiService[] = [];
  let stopped: Promise<void> | undefined;
  const stopProvider = () => {
    stopped ??= provider.close();
    return stopped;
  };
  const replace = async (more: ReplicaOptions = options) => {
    api = await startApiService(optionsOf({ origin, provider, secretManager }, more));
    replicas.push(api);
    return api;
  };
  await replace();
  return {
    origin,
    provider,
    secretManager,
    replace,
    stopProvider,
    get api() {
      return api as ApiService;
    },
    serveFrom: (replica) => {
      api = replica;
    },
    async loggedIn() {
      const browser = new Browser();
      await logIn(browser, { origin, provider });
      return browser;
    },
    async stop() {
      await Promise.all(replicas.map((replica) => replica.stop()));
      await Promise.all([closed(server, replicas), stopProvider()]);
    },
  };
}

/** Logs in at the console as a browser does, with a path to return to; answers the last page. */
export async function logIn(
  browser: Browser,
  { origin, provider }: Pick<ConsoleService, "origin" | "provider">,
  { back = "/console/", email = PERSON.email }: { readonly back?: string; readonly email?: string } = {},
): Promise<Page> {
  const begin = `${origin}/console/auth/login?back=${encodeURIComponent(back)}`;
  const page = await browser.open(begin);
  return browser.submit(page, { email, password: provider.passwords[email] ?? "" });
}

/** The content of a session's cookie, read with the installation's key. Fails when it can't be opened. */
export async function openedSession(
  { api, secretManager }: Pick<ConsoleService, "api" | "secretManager">,
  sealed: string,
): Promise<StoredSession> {
  // The first version, the default of the settings.
  const keys = keyRing(consoleSecrets({}, secretManager), { current: 1, clock: api.clock });
  const found = await createSeal<StoredSession>({ keys, randomBytes, purpose: "session 1" }).open(sealed);
  if (found === undefined) throw new Error("the cookie can't be opened");
  return found;
}

function optionsOf(
  { origin, provider, secretManager }: Pick<ConsoleService, "origin" | "provider" | "secretManager">,
  { api, console, issuer, ...options }: ReplicaOptions,
): ServiceOptions {
  const trusted = {
    issuer: provider.issuer,
    audience: ["console", "ephemeral"],
    roles: { developer: ["platform-developers"], maintainer: ["platform-maintainers"] },
    ...issuer,
  };
  return {
    clientsFolder: NOTHING_BUILT,
    ...options,
    secretManager,
    now: new Date().toISOString(),
    api: { issuers: [trusted], ...api },
    settings: {
      console: {
        publicUrl: origin,
        clientId: "console",
        clientSecret: { name: "console-client", key: "latest" },
        ...console,
      },
    },
  };
}

async function closed(server: Server, replicas: readonly ApiService[]): Promise<void> {
  for (const { stopping } of replicas) stopping.abort();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}
