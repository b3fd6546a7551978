import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, isIPv6 } from "node:net";
import type { Clock } from "../kit/time/clock.ts";
import type { Gate } from "./gate.ts";

/** Connections at a time; further ones are closed at once. */
const MOST_CONNECTIONS = 2_000;
/** Time limits of the head and of the whole request. */
const PATIENCE = { headMs: 10_000, requestMs: 30_000 } as const;
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

interface ServerOptions {
  readonly host: string;
  /** 0 takes a free one, which the URL names. */
  readonly port: number;
  readonly clock: Clock;
  /** Time limits of a request's head and whole. */
  readonly patience?: { readonly headMs: number; readonly requestMs: number };
}

/** Starts listening, bounded in everything that a client decides; rejects when the address is unavailable. */
export async function startGateServer(gate: Gate, options: ServerOptions): Promise<GateServer> {
  const { host, port, clock, patience = PATIENCE } = options;
  const server = createServer({
    headersTimeout: patience.headMs,
    requestTimeout: patience.requestMs,
    connectionsCheckingInterval: Math.min(CHECK_MS, patience.headMs),
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEAD_BYTES,
  });
  server.maxConnections = MOST_CONNECTIONS;
  // Node's time limit of heads begins with their first byte.
  server.on("connection", (socket) => socket.setTimeout(patience.headMs, () => socket.destroy()));
  server.on("request", (request, response) => {
    request.socket.setTimeout(0);
    gate.serve(request, response);
  });
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
