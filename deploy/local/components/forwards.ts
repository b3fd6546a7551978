import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import type { CertificateAuthority } from "../kubernetes/pki.ts";
import { addresses, forwards } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { BuiltComponent } from "./component.ts";

/** Forwards for the platform in pods: git, the ingress and the identity provider listen on this machine's loopback. */
export const forwardsComponent: BuiltComponent = {
  name: "forwards",
  after: ["network", "git server", "identity provider", "traefik"],
  start: (site) => keepForwards(site.folder, site.ca, addresses.bridge.address),
};

/** Keeps the forwards running at that address of this machine, with a certificate of that authority. */
export async function keepForwards(folder: string, ca: CertificateAuthority, address: string): Promise<void> {
  const pair = await ca.issue("forwards", { commonName: "forwards", alternativeNames: [`IP:${address}`] });
  const args = [join(import.meta.dirname, "../network/forward.ts"), pair.certificate, pair.key, address];
  await keepRunning(folder, { name: "forwards", command: process.execPath, args }, async () => {
    for (const { port } of Object.values(forwards)) await assertListens(address, port);
    return true;
  });
}

async function assertListens(host: string, port: number): Promise<void> {
  const socket = connect(port, host);
  try {
    await once(socket, "connect", { signal: AbortSignal.timeout(1000) });
  } finally {
    socket.destroy();
  }
}
