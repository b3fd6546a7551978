import { once } from "node:events";
import { createServer, type Server } from "node:http";

/** What the probes ask. */
export interface Probed {
  /** Whether the process can serve: its caches were complete once. */
  readonly isReady: () => boolean;
}

/**
 * Serves `/livez` (the event loop turns) and `/readyz` (the process can serve) for the kubelet, on a port of their own.
 *
 * A dependency that is down is no reason to restart or to unplug a pod: that truth is told by `/api/ready`.
 */
export async function serveProbes(address: { host: string; port: number }, { isReady }: Probed): Promise<Server> {
  const server = createServer((request, reply) => {
    const known = { "/livez": true, "/readyz": isReady() }[request.url ?? ""];
    const status = known === undefined ? 404 : known ? 200 : 503;
    reply.writeHead(status, { "content-type": "text/plain" }).end(`${status === 200 ? "ok" : "not ok"}\n`);
  });
  server.listen(address.port, address.host);
  await once(server, "listening");
  return server;
}
