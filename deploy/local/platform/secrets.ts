import { randomBytes } from "node:crypto";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { identityFolder } from "../folders.ts";
import { consoleSecret } from "../identity/keys.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";

/** Where the embedded secret manager keeps values, unless the settings say otherwise. */
const namespace = "ephemeral-secrets";

/** The key of all webhooks of the local cluster, in its secret manager. */
export const webhookKeyRef = { name: "webhooks", key: "latest" } as const;

/** The secret of the console's client at the local identity provider. */
export const consoleSecretRef = { name: "console-client", key: "latest" } as const;

/** The token of the platform's account on Gitea. It is missing before \`make gitea\`. */
export const giteaTokenRef = { name: "gitea-token", key: "latest" } as const;

/** Makes sure that there is a key of webhooks: random, another one for each cluster. */
export async function ensureWebhookKey(client: ApiClient): Promise<void> {
  await ensureSecret(client, webhookKeyRef.name, async () => randomBytes(32).toString("base64url"));
}

/** Makes sure that the platform knows the secret of the console's client, which the identity provider has made. */
export async function ensureConsoleSecret(client: ApiClient): Promise<void> {
  await ensureSecret(client, consoleSecretRef.name, () => consoleSecret(identityFolder));
}

/** Makes sure that the secret manager has a value of this name. */
export async function ensureSecret(client: ApiClient, name: string, make: () => Promise<string>): Promise<void> {
  if (await client.find(`/api/v1/namespaces/${namespace}/secrets/${name}`)) return;
  await client.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { [SHARED_SECRET_LABEL]: "true" } },
    stringData: { "1": await make() },
  });
}
