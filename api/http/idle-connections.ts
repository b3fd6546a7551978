import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

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
