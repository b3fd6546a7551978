import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/**
 * So many loopback ports that nothing listens on. They are asked for together, so they differ; another program may
 * take one before it is used, which then shows as an address in use.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  for (const server of servers) {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
  }
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) {
    server.close();
    await once(server, "close");
  }
  return ports;
}
