import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { keyRing } from "../../../api/console/keys.ts";
import { createSeal } from "../../../api/console/seal.ts";
import type { StoredSession } from "../../../api/console/sessions.ts";
import { type IdentityProvider, startIdentityProvider } from "../../../deploy/local/identity/provider.ts";
import { consoleSecrets } from "../../../operator/wiring/console-secrets.ts";
import { type MemorySecretManager, memorySecretManager } from "../doubles/memory/secret-manager.ts";
import { type ApiService, type ServiceOptions, startApiService } from "./api-service.ts";
import { Browser, type Page } from "./browser.ts";

/** A person of the local identity provider, a developer in `shop-team`. */
export const PERSON = { email: "dev@example.test", name: "Dana Developer", sub: "u-dev" };

/** Whether the checkout's clients are built makes no difference to tests. */
const NOTHING_BUILT = join(import.meta.dirname, "nothing-built");

/** The facade with its console, over HTTP, and a real identity provider. */
export interface ConsoleService {
  /** The console's origin: another site than the provider's, as far as cookies are concerned. */
  readonly origin: string;
  readonly provider: IdentityProvider;
  readonly secretManager: MemorySecretManager;
  /** The replica that serves now. */
  readonly api: ApiService;
  /** Another replica, which serves from now on. */
  replace(options?: ReplicaOptions): Promise<ApiService>;
  /** Has that replica serve. */
  serveFrom(api: ApiService): void;
  /** The browser of somebody who has logged in. */
  loggedIn(): Promise<Browser>;
  /** The identity provider goes away for good. */
  stopProvider(): Promise<void>;
  stop(): Promise<void>;
}

export interface ReplicaOptions extends Pick<ServiceOptions, "limits" | "clientsFolder"> {
  readonly api?: Readonly<Record<string, unknown>>;
  readonly console?: Readonly<Record<string, unknown>>;
  readonly issuer?: Readonly<Record<string, unknown>>;
}

/** The cookie of a session, and what the console's pages do with it. */
export const SESSION_COOKIE = "__Host-console";
export const cookieOf = (browser: Browser) => browser.cookies("localhost")[SESSION_COOKIE] ?? "";
export const session = (browser: Browser) => browser.fetch("/console/auth/session");
export const refresh = (browser: Browser) => browser.fetch("/console/auth/refresh", { method: "POST" });

/** Starts it; stop it when done. */
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

/** Logs in at the console as a browser does, with a path to come back to; answers the page at which that ends. */
export async function logIn(
  browser: Browser,
  { origin, provider }: Pick<ConsoleService, "origin" | "provider">,
  { back = "/console/", email = PERSON.email }: { readonly back?: string; readonly email?: string } = {},
): Promise<Page> {
  const begin = `${origin}/console/auth/login?back=${encodeURIComponent(back)}`;
  const page = await browser.open(begin);
  return browser.submit(page, { email, password: provider.passwords[email] ?? "" });
}

/** What a session's cookie holds, read with the installation's own key. Fails when it can't be opened. */
export async function openedSession(
  { api, secretManager }: Pick<ConsoleService, "api" | "secretManager">,
  sealed: string,
): Promise<StoredSession> {
  // The first version, which is that of the settings unless a test says otherwise.
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
