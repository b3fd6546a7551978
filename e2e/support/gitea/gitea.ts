import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "../site.ts";

const DEADLINE_MS = 30_000;
const JSON_TYPE = "application/json";

/** The address of the git host with private repositories and a registry. */
export const giteaUrl = "http://127.0.0.1:9301";

/** The git host's administrator. Fails when `make gitea` has not started the host. */
export async function administrator(): Promise<{ readonly name: string; readonly password: string }> {
  return JSON.parse(await readFile(join(stateFolder, "cluster/gitea-administrator.json"), "utf8"));
}

/** The deadline of a call of the git host. */
export const deadline = () => AbortSignal.timeout(DEADLINE_MS);

export async function remove(url: string): Promise<void> {
  const reply = await ask("DELETE", url);
  if (reply.status !== 404) await accepted("DELETE", reply);
}

/** Calls as the git host's administrator. Fails with the host's message. */
export async function send(method: string, url: string, content?: object | Buffer, type?: string): Promise<Response> {
  return accepted(method, await ask(method, url, content, type));
}

async function accepted(method: string, reply: Response): Promise<Response> {
  if (!reply.ok) throw new Error(`${method} ${reply.url} was answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

async function ask(method: string, url: string, content?: object | Buffer, type?: string): Promise<Response> {
  const { name, password } = await administrator();
  const isBytes = Buffer.isBuffer(content);
  return fetch(url, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`,
      "content-type": type ?? (isBytes ? "application/octet-stream" : JSON_TYPE),
    },
    ...(content && { body: isBytes ? new Uint8Array(content) : JSON.stringify(content) }),
    signal: deadline(),
  });
}
