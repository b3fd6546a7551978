/**
 * Forwards ports of the bridge to services on this machine's loopback, for pods: bytes unchanged, or out of TLS. Usage:
 * forward.ts CERTIFICATE KEY [ADDRESS]; both files in PEM, for that address of the machine (default: the local cluster's
 * bridge).
 */
import { readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { addresses, forwards } from "./addresses.ts";

const [certificate = "", key = "", address = addresses.bridge.address] = process.argv.slice(2);
const tls = { cert: readFileSync(certificate), key: readFileSync(key) };

for (const { port, to, tls: isTls } of Object.values(forwards)) {
  const join = (socket: Socket) => forward(socket, to);
  const server: Server = isTls ? createTlsServer(tls, join) : createServer(join);
  server.listen(port, address);
}

/** Either end's failure ends the other. */
function forward(socket: Socket, port: number): void {
  const target = connect(port, "127.0.0.1");
  socket.on("error", () => target.destroy()).on("close", () => target.destroy());
  target.on("error", () => socket.destroy()).on("close", () => socket.destroy());
  socket.pipe(target).pipe(socket);
}
