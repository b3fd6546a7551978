/** Answers every request with as many bytes as the argument says, and does nothing for it; says where it listens. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const body = "x".repeat(Number(process.argv[2]));
const server = createServer((_request, reply) => reply.end(body));
server.listen(0, "127.0.0.1", () => console.log((server.address() as AddressInfo).port));
