import { readFileSync } from "node:fs";
import { request } from "node:https";
import { text } from "node:stream/consumers";
import { site } from "./site.ts";

const DEADLINE_MS = 10_000;

export interface Page {
  readonly status: number | undefined;
  readonly body: string;
}

/**
 * Opens an environment's URL through the ingress. The certificate must be the local authority's, for exactly that host.
 *
 * Connects to loopback with the URL's port and name, because some resolvers do not know names below `localhost` (RFC 6761,
 * 6.3). Fails, naming the URL, without a complete answer within ten seconds.
 */
export async function open(url: string): Promise<Page> {
  const { hostname, host, port, pathname } = new URL(url);
  const options = { host: "127.0.0.1", port, path: pathname, servername: hostname, headers: { host } };
  const signal = AbortSignal.timeout(DEADLINE_MS);
  return new Promise((resolve, reject) => {
    const unanswered = (cause: unknown) => reject(new Error(`GET ${url} had no whole answer`, { cause }));
    const sent = request({ ...options, ca: readFileSync(site.caFile), agent: false, signal }, (reply) => {
      text(reply).then((body) => resolve({ status: reply.statusCode, body }), unanswered);
    });
    sent.once("error", unanswered).end();
  });
}
