import type { Server } from "node:http";
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
