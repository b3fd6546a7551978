import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** What the probes ask. */
export interface Probed {
  /** False when something hangs that only a restart helps. */
  readonly alive: boolean;
  /** True once the caches were complete. */
  readonly synced: boolean;
}

/**
 * Serves `/livez` (the event loop turns, and no watch hangs) and `/readyz` (the process can serve) for the kubelet, on a
 * port of their own.
 *
 * A dependency that is down is no reason to restart or to unplug a pod: that truth is told by `/api/ready`.
 */
export async function serveProbes(address: { host: string; port: number }, probed: Probed): Promise<Server> {
  const server = createServer((request, reply) => {
    const known = { "/livez": probed.alive, "/readyz": probed.synced }[request.url ?? ""];
    const status = known === undefined ? 404 : known ? 200 : 503;
    reply.writeHead(status, { "content-type": "text/plain" }).end(`${status === 200 ? "ok" : "not ok"}\n`);
  });
  server.listen(address.port, address.host);
  await once(server, "listening");
  return server;
}
