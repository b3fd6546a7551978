import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { text } from "node:stream/consumers";

/**
 * The page at an environment's URL. Connects to loopback, because some resolvers do not know names below `localhost` (RFC
 * 6761, 6.3). Fails unless it answers 200 within 5 s.
 *
 * @param caFile signs the ingress's certificate
 */
export async function openPage(url: string, caFile: string): Promise<string> {
  const { hostname, host, port, pathname } = new URL(url);
  const signal = AbortSignal.timeout(5_000);
  const address = { host: "127.0.0.1", port, path: pathname, servername: hostname, headers: { host } };
  const sent = request({ ...address, ca: await readFile(caFile), agent: false, signal }).end();
  const [reply] = (await once(sent, "response")) as [IncomingMessage];
  const body = await text(reply);
  if (reply.statusCode !== 200) throw new Error(`${url} answered ${reply.statusCode}: ${body.slice(0, 200)}`);
  return body;
}
