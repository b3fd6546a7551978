import type { SecretManagerServiceClient } from "@google-cloud/secret-manager";

/** The client, as far as we call it. */
export type GoogleClient = Pick<
  SecretManagerServiceClient,
  | "createSecret"
  | "getSecret"
  | "updateSecret"
  | "deleteSecret"
  | "listSecrets"
  | "addSecretVersion"
  | "accessSecretVersion"
  | "initialize"
  | "close"
>;

/** One client for a whole process, opened when it is needed first. */
export interface GoogleConnection {
  /** The client, ready to call. Rejects when there are no credentials; the next call searches for them again. */
  client(): Promise<GoogleClient>;
  /** Ends it; one that was never opened, or never could be, has nothing to close. */
  close(): Promise<void>;
}

/** Looks for Google's credentials where their libraries do: the pod's own identity, or a file that the environment names. */
export function googleConnection(connect: () => Promise<GoogleClient>): GoogleConnection {
  let connected: Promise<GoogleClient> | undefined;

  // A client that finds no credentials during a call ends the process by an unhandled rejection, and never searches again.
  // A pod's credentials may come a moment after its start: so each attempt is a new client, which searches before any call.
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

/** Google's own client, loaded only now: installations without it are spared its 40 MB. */
export async function googleClient(project: string): Promise<GoogleClient> {
  const { SecretManagerServiceClient } = await import("@google-cloud/secret-manager");
  return new SecretManagerServiceClient({ projectId: project });
}
