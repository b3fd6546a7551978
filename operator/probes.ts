import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** What the probes ask. */
export interface Probed {
  /** False when something hangs that only a restart helps. */
  readonly alive: boolean;
  /** The kinds of which there has been no complete list yet; none once the process can serve. */
  readonly missing: readonly string[];
}

/**
 * Serves `/livez` (the event loop turns, and no watch hangs) and `/readyz` (the process can serve; else it names the kinds
 * that it has no complete list of) for the kubelet, on a port of their own.
 *
 * A dependency that is down is no reason to restart or to unplug a pod: that truth is told by `/api/ready`.
 */
export async function serveProbes(address: { host: string; port: number }, probed: Probed): Promise<Server> {
  const server = createServer((request, reply) => {
    const { status, text } = answerTo(request.url ?? "", probed);
    reply.writeHead(status, { "content-type": "text/plain" }).end(`${text}\n`);
  });
  server.listen(address.port, address.host);
  await once(server, "listening");
  return server;
}

function answerTo(path: string, { alive, missing }: Probed): { readonly status: number; readonly text: string } {
  const ok = { status: 200, text: "ok" };
  if (path === "/livez") return alive ? ok : { status: 503, text: "not ok" };
  if (path !== "/readyz") return { status: 404, text: "not ok" };
  return missing.length === 0 ? ok : { status: 503, text: `not ok: no complete list yet of ${missing.join(", ")}` };
}
