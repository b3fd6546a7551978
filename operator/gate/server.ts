import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Clock } from "../kit/time/clock.ts";
import type { Gate } from "./gate.ts";

/** Connections at a time; further ones are closed at once. */
const MOST_CONNECTIONS = 2_000;
const HEAD_MS = 10_000;
const REQUEST_MS = 30_000;
const CHECK_MS = 1_000;
const HEAD_BYTES = 16 * 1024;
/** Longer than proxies keep idle connections, or they would send into closed ones. */
const KEEP_ALIVE_MS = 65_000;

/** A listening gate. */
export interface GateServer {
  readonly url: string;
  /** Takes no more connections, and gives answers that are on their way that much time. */
  stop(graceMs: number): Promise<void>;
}

/** Starts listening, bounded in everything that a client decides; rejects when the address is unavailable. */
export async function startGateServer(
  gate: Gate,
  { host, port, clock }: { readonly host: string; readonly port: number; readonly clock: Clock },
): Promise<GateServer> {
  const server = createServer({
    headersTimeout: HEAD_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEAD_BYTES,
  });
  server.maxConnections = MOST_CONNECTIONS;
  server.on("request", gate.serve);
  server.on("upgrade", gate.upgrade);
  server.on("connect", (_request, socket) => socket.destroy());
  await once(server.listen(port, host), "listening");
  const address = server.address() as AddressInfo;
  return {
    url: `http://${isIPv6(address.address) ? `[${address.address}]` : address.address}:${address.port}`,
    async stop(graceMs) {
      const cancel = clock.setTimer(graceMs, () => server.closeAllConnections());
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      await closed;
      cancel();
    },
  };
}
