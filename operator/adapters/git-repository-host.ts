import git, { type HttpClient } from "isomorphic-git";
import { Agent, request } from "undici";
import { type RepositoryHost, RepositoryHostUnavailable } from "../ports/repository-host.ts";

const DEADLINE_MS = 10_000;

/** The RepositoryHost port over git's smart HTTP protocol, version 2: one small question, no clone. */
export function gitRepositoryHost(): RepositoryHost & { close(): Promise<void> } {
  const agent = new Agent({ connections: 16, connect: { timeout: 5_000 } });
  return {
    async head(cloneUrl, branch) {
      const ref = `refs/heads/${branch}`;
      try {
        const http = boundedHttp(agent, AbortSignal.timeout(DEADLINE_MS));
        const refs = await git.listServerRefs({ http, url: cloneUrl, prefix: ref, protocolVersion: 2 });
        // The prefix matches longer names too.
        return refs.find((candidate) => candidate.ref === ref)?.oid;
      } catch (cause) {
        throw new RepositoryHostUnavailable(`${withoutCredentials(cloneUrl)} can't be asked: ${reasonOf(cause)}`, {
          cause,
        });
      }
    },
    close: () => agent.close(),
  };
}

/** isomorphic-git's own client has no deadline and follows redirects to wherever they lead. */
function boundedHttp(agent: Agent, signal: AbortSignal): HttpClient {
  return {
    async request({ url, method = "GET", headers = {}, body }) {
      const sent = body === undefined ? null : Buffer.concat(await Array.fromAsync(body));
      const reply = await request(url, { method: method as "GET", headers, body: sent, dispatcher: agent, signal });
      const flat = Object.entries(reply.headers).map(([name, value]) => [name, String(value)]);
      return {
        url,
        method,
        statusCode: reply.statusCode,
        statusMessage: String(reply.statusCode),
        headers: Object.fromEntries(flat),
        body: reply.body[Symbol.asyncIterator]() as AsyncIterableIterator<Uint8Array>,
      };
    },
  };
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return "unknown error";
  const { code, data } = cause as Error & { code?: string; data?: { statusCode?: number } };
  if (data?.statusCode !== undefined) return `it answered ${data.statusCode}`;
  return cause.name === "TimeoutError" ? `no answer within ${DEADLINE_MS / 1000} s` : (code ?? cause.name);
}

function withoutCredentials(cloneUrl: string): string {
  const url = new URL(cloneUrl);
  url.username = "";
  url.password = "";
  return url.href;
}
