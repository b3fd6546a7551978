import { KubeError } from "../../kit/client/errors.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";

/**
 * UID of the namespace `kube-system`, which can't be recreated; read once, on first use.
 *
 * Distinguishes this installation's entries from others in the same Google project, whose unknown environments would
 * count as gone. A cluster has one installation.
 */
export function clusterIdentity(client: KubeClient): () => Promise<string> {
  let identity: Promise<string> | undefined;

  async function read(): Promise<string> {
    const found = await client.find(namespaceKind, { name: "kube-system" }, { metadataOnly: true });
    if (found === undefined)
      throw new SecretManagerUnavailable("there is no namespace kube-system to tell clusters by");
    return found.metadata.uid;
  }

  return () => {
    identity ??= read().catch((error) => {
      identity = undefined;
      if (!(error instanceof KubeError)) throw error;
      throw new SecretManagerUnavailable(`the cluster does not say which one it is: ${error.message}`, {
        cause: error,
      });
    });
    return identity;
  };
}
