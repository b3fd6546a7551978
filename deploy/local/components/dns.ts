import { Resolver } from "node:dns/promises";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubeconfigFor } from "../kubernetes/kubeconfig.ts";
import { addresses } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { BuiltComponent } from "./component.ts";

/** CoreDNS with the names of Services only: a pod can't resolve outside names. */
export const dnsComponent: BuiltComponent = {
  name: "coredns",
  after: ["access rules", "network"],
  async start(site) {
    const kubeconfig = await kubeconfigFor(site, "coredns", { commonName: "local:coredns" });
    const file = join(site.folder, "Corefile");
    await writeFile(file, corefile(kubeconfig));
    const command = join(site.built.controlplane.programs, "coredns");
    await keepRunning(site.folder, { name: "coredns", command, args: ["-conf", file] }, knowsTheApiServer);
  },
};

/** CoreDNS answers once it has read every Service; `kubernetes` exists in each cluster. */
async function knowsTheApiServer(): Promise<boolean> {
  const resolver = new Resolver({ timeout: 1000, tries: 1 });
  resolver.setServers([addresses.bridge.address]);
  const found = await resolver.resolve4("kubernetes.default.svc.cluster.local");
  return found.includes(addresses.firstService);
}

/** The configuration of CoreDNS; quoting makes any path one word. */
export function corefile(kubeconfig: string): string {
  return `cluster.local:53 {
  bind ${addresses.bridge.address}
  errors
  kubernetes cluster.local {
    kubeconfig "${kubeconfig.replaceAll('"', '\\"')}" local
    pods disabled
  }
  cache 5
}
`;
}
