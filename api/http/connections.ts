import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { countedAddress } from "../limits/limits.ts";

/** Limit for all clients together: each connection costs memory. */
const MAX_CONNECTIONS = 10_000;
/** A browser opens six connections and a pipeline a handful: enough for an office behind one address. */
const MAX_PER_ADDRESS = 256;

interface CapOptions {
  /** True for a proxy's address, which many callers share: it has no cap. */
  readonly isShared: (address: string | undefined) => boolean;
}

/** Closes connections beyond the caps before a byte is read; call it before the server listens. */
export function capConnections(server: Server, { isShared }: CapOptions): void {
  server.maxConnections = MAX_CONNECTIONS;
  const open = new Map<string, number>();
  server.prependListener("connection", (socket: Socket) => {
    if (isShared(socket.remoteAddress)) return;
    const address = countedAddress(socket.remoteAddress);
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once("close", () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
    if (count > MAX_PER_ADDRESS) socket.destroy();
  });
}

/**
 * Follows a server's connections; call it before the server listens. Node's `closeIdleConnections` leaves those with no
 * byte, or only part of a head: `close` would wait for them.
 */
export function idleConnections(server: Server) {
  const requestsOf = new Map<Socket, number>();
  let isClosing = false;
  const change = (socket: Socket, by: 1 | -1) => {
    const known = requestsOf.get(socket);
    if (known === undefined) return;
    requestsOf.set(socket, known + by);
    if (isClosing && known + by === 0) socket.destroy();
  };
  server.on("connection", (socket: Socket) => {
    requestsOf.set(socket, 0);
    socket.once("close", () => requestsOf.delete(socket));
  });
  server.on("request", ({ socket }: IncomingMessage, response: ServerResponse) => {
    change(socket, 1);
    response.once("close", () => change(socket, -1));
  });
  return {
    /** Ends idle connections, and from here on each after its last answer. */
    closeFromNowOn: () => {
      isClosing = true;
      for (const [socket, requests] of requestsOf) if (requests === 0) socket.destroy();
    },
  };
}

/**
 * Bytes of a body that are still read (and dropped) after an answer, so that the sender gets to read it: with a MiB,
 * one in ten fast senders was reset before.
 */
const LINGER_BYTES = 8_388_608;

/**
 * Closes a connection whose sender goes on with a body after the answer. An immediate close would reset it before the
 * answer is read; Node's default is to read on for as long as a request may take.
 */
export function dropUnread(request: IncomingMessage, response: ServerResponse): void {
  // Before the answer is out: afterwards Node drops the data uncounted.
  response.once("prefinish", () => {
    if (request.complete) return;
    let dropped = 0;
    request.on("data", (chunk: Buffer) => {
      dropped += chunk.length;
      if (dropped > LINGER_BYTES) request.socket.destroy();
    });
  });
}
