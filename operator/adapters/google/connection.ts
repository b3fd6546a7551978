import type { SecretManagerServiceClient as GoogleClient } from "@google-cloud/secret-manager";
import { KubeError } from "../../kit/client/errors.ts";
import { namespaceKind } from "../../kit/client/kinds.ts";
import type { KubeClient } from "../../kit/client/kube-client.ts";
import { SecretManagerUnavailable } from "../../ports/secret-manager.ts";

/** One client per process, opened on first use. */
export interface GoogleConnection {
  /** The ready client. Rejects without credentials; the next call searches again. */
  client(): Promise<GoogleClient>;
  close(): Promise<void>;
}

/** Finds credentials as Google's libraries do: the pod's identity, or a file named by the environment. */
export function googleConnection(connect: () => Promise<GoogleClient>): GoogleConnection {
  let connected: Promise<GoogleClient> | undefined;

  // A client that finds no credentials during a call ends the process by an unhandled rejection, and never searches
  // again. A pod's may come late: so each attempt is a new client, which searches before any call.
  async function open(): Promise<GoogleClient> {
    try {
      const client = await connect();
      await client.initialize();
      return client;
    } catch (error) {
      connected = undefined;
      throw error;
    }
  }

  return {
    client() {
      connected ??= open();
      return connected;
    },
    async close() {
      await connected?.then((client) => client.close()).catch(() => undefined);
    },
  };
}

/** Google's client, imported lazily: installations without it save its 40 MB. */
export async function googleClient(project: string): Promise<GoogleClient> {
  const { SecretManagerServiceClient } = await import("@google-cloud/secret-manager");
  return new SecretManagerServiceClient({ projectId: project });
}

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
