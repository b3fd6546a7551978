import { once } from "node:events";
import { createServer } from "node:net";
import { onCode } from "../../build/error-codes.ts";
import { addresses } from "./addresses.ts";

/** Ports on loopback, by the name of their setting in addresses.ts. */
export type NamedPorts = Readonly<Record<string, number>>;

/** Every fixed loopback port of the local cluster. */
export function clusterPorts(): NamedPorts {
  const { apiServerPort: _onBridge, dnsPort: _onBridgeToo, gatePort: _onBridgeAsWell, ...rest } = addresses;
  return Object.fromEntries(Object.entries(rest).filter(([name]) => name.endsWith("Port"))) as NamedPorts;
}

/** Fails, naming them, when other programs listen on some of the ports. */
export async function assertPortsAreFree(ports: NamedPorts): Promise<void> {
  const entries = Object.entries(ports);
  const free = await Promise.all(entries.map(([, port]) => isPortFree(port)));
  const taken = entries.filter((_entry, index) => !free[index]).map(([name, port]) => `${port} (${name})`);
  if (taken.length === 0) return;
  throw new Error(
    `Another program uses ${taken.join(", ")} on 127.0.0.1; "ss -ltnp" names it. Stop it, then try again.`,
  );
}

/** True when nothing listens on that port of loopback. */
export async function isPortFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(() => true, onCode(["EADDRINUSE"], false));
  if (isFree) await once(server.close(), "close");
  return isFree;
}
