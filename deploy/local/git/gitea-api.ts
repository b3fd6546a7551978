import { readFile } from "node:fs/promises";
import { giteaUrl } from "../network/addresses.ts";

/** An account of Gitea. */
export interface GiteaAccount {
  readonly name: string;
  readonly password: string;
}

/** Gitea's REST interface for one account. Paths begin below `/api/v1`. https://docs.gitea.com/api */
export interface GiteaApi {
  readonly account: GiteaAccount;
  /** The reply's JSON, or undefined for a missing object. Fails with Gitea's message on any other error. */
  find<T>(path: string): Promise<T | undefined>;
  /** The reply's JSON; undefined when it is empty. Fails with Gitea's message. */
  send<T>(method: string, path: string, body?: object): Promise<T>;
}

const DEADLINE_MS = 20_000;

/** @param accountFile name and password in JSON */
export async function giteaApi(accountFile: string): Promise<GiteaApi> {
  const account = JSON.parse(await readFile(accountFile, "utf8")) as GiteaAccount;
  const authorization = basicAuthorization(account);
  const call = (method: string, path: string, body?: object) =>
    fetch(`${giteaUrl}/api/v1${path}`, {
      method,
      headers: { authorization, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
  return {
    account,
    async find<T>(path: string) {
      const reply = await call("GET", path);
      return reply.status === 404 ? undefined : accepted<T>(reply, `GET ${path}`);
    },
    send: async <T>(method: string, path: string, body?: object) =>
      accepted<T>(await call(method, path, body), `${method} ${path}`),
  };
}

/** The value of an `Authorization` header. */
export function basicAuthorization({ name, password }: GiteaAccount): string {
  return `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
}

async function accepted<T>(reply: Response, what: string): Promise<T> {
  const content = await reply.text();
  if (!reply.ok) throw new Error(`Gitea answered ${what} with ${reply.status}: ${content.slice(0, 500)}`);
  return (content === "" ? undefined : JSON.parse(content)) as T;
}
