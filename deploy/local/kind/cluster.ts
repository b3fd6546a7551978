import { writeFile } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { run } from "../../build/run.ts";
import { addresses } from "../network/addresses.ts";
import type { KindTools } from "./tools.ts";

/** The cluster's name among all kind clusters of the machine. */
export const CLUSTER_NAME = "ephemeral-environments";

/** Node ports of the ingress and the REST interface. */
export const nodePorts = { ingress: 30443, api: 30080 } as const;

/** One node. Its services use the local cluster's ports, on loopback only. */
export const clusterConfig = {
  kind: "Cluster",
  apiVersion: "kind.x-k8s.io/v1alpha4",
  nodes: [
    {
      role: "control-plane",
      extraPortMappings: [
        { containerPort: nodePorts.ingress, hostPort: addresses.ingressPort, listenAddress: "127.0.0.1" },
        { containerPort: nodePorts.api, hostPort: addresses.apiPort, listenAddress: "127.0.0.1" },
      ],
    },
  ],
} as const;

/** Addresses by which this machine and the cluster reach each other. */
export interface Bridge {
  /** Address of this machine for pods. */
  readonly address: string;
  /** The nodes' addresses, as a block. */
  readonly network: string;
}

/** Creates the cluster if missing, and writes the administrator's kubeconfig into the folder; answers the file's path. */
export async function ensureCluster({ kind }: KindTools, folder: string): Promise<string> {
  const kubeconfigFile = join(folder, "kubeconfig");
  const isThere = (await kind.clusters()).includes(CLUSTER_NAME);
  if (!isThere) await kind.create({ name: CLUSTER_NAME, config: clusterConfig, kubeconfigFile });
  await writeFile(kubeconfigFile, await kind.kubeconfig(CLUSTER_NAME), { mode: 0o600 });
  return kubeconfigFile;
}

/** The Docker bridge of kind's nodes. */
export async function bridgeOf({ docker }: KindTools): Promise<Bridge> {
  const output = await run(docker, ["network", "inspect", "kind", "--format", "{{json .IPAM.Config}}"]);
  const configs = JSON.parse(output) as readonly { readonly Subnet: string; readonly Gateway?: string }[];
  const found = configs.find(({ Gateway }) => Gateway !== undefined && isIPv4(Gateway));
  if (!found?.Gateway) throw new Error(`Docker's network "kind" has no IPv4 address of this machine: ${output.trim()}`);
  return { address: found.Gateway, network: found.Subnet };
}
