import type { Server } from "node:http";
import type { Socket } from "node:net";
import { countedAddress } from "./limits.ts";

/** In all: each costs memory, whoever holds it. */
const MAX_CONNECTIONS = 10_000;
/** A browser opens six, a pipeline a handful; an office behind one address has room. */
const MAX_PER_ADDRESS = 256;

/** Turns away connections beyond what a server can bear, before a byte is read; call it before the server listens. */
export function capConnections(server: Server, { perAddress }: { readonly perAddress: boolean }): void {
  server.maxConnections = MAX_CONNECTIONS;
  if (!perAddress) return;
  const open = new Map<string, number>();
  server.prependListener("connection", (socket: Socket) => {
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
