import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { identityFolder } from "../../deploy/local/folders.ts";
import { signedIdToken } from "../../deploy/local/identity/tokens.ts";
import { localIssuer } from "../../deploy/local/network/addresses.ts";
import { createKubeClient } from "../../operator/kit/client/create-kube-client.ts";
import type { KubeClient } from "../../operator/kit/client/kube-client.ts";

/** The running local cluster, as benchmarks use it. */
export interface LocalCluster {
  /** Shell variables of the cluster, by name. */
  readonly variables: Readonly<Record<string, string>>;
  /** A client with all rights; the caller closes it. */
  readonly admin: KubeClient;
  /** An ID token of a user of the REST API, valid for an hour. */
  readonly token: string;
}

/**
 * Opens the running local cluster.
 *
 * @throws Error when there is none
 */
export async function openLocalCluster(): Promise<LocalCluster> {
  const variables = shellVariables();
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(variables.KUBECONFIG as string);
  const admin = createKubeClient({ kubeConfig });
  return { variables, admin, token: await signedIdToken(identityFolder, localIssuer, "dev@example.test") };
}

function shellVariables(): LocalCluster["variables"] {
  const file = resolve(import.meta.dirname, "../../.local/env");
  try {
    const text = readFileSync(file, "utf8");
    return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
  } catch (cause) {
    throw new Error("the local cluster is not running: start it with 'make up'", { cause });
  }
}
