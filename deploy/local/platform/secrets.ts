import { randomBytes } from "node:crypto";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import { identityFolder } from "../folders.ts";
import { consoleSecret } from "../identity/keys.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";

const namespace = "ephemeral-secrets";

/** The key of all webhooks, in the local cluster's secret manager. */
export const webhookKeyRef = { name: "webhooks", key: "latest" } as const;

/** The secret of the console's client at the local identity provider. */
export const consoleSecretRef = { name: "console-client", key: "latest" } as const;

/** The token of the platform's account on Gitea; missing before \`make gitea\`. */
export const giteaTokenRef = { name: "gitea-token", key: "latest" } as const;

/** Ensures a random webhook key, a different one for each cluster. */
export async function ensureWebhookKey(client: ApiClient): Promise<void> {
  await ensureSecret(client, webhookKeyRef.name, async () => randomBytes(32).toString("base64url"));
}

/** Ensures that the platform knows the secret of the console's client, made by the identity provider. */
export async function ensureConsoleSecret(client: ApiClient): Promise<void> {
  await ensureSecret(client, consoleSecretRef.name, () => consoleSecret(identityFolder));
}

/** Ensures a value of this name in the secret manager. */
export async function ensureSecret(client: ApiClient, name: string, make: () => Promise<string>): Promise<void> {
  if (await client.find(`/api/v1/namespaces/${namespace}/secrets/${name}`)) return;
  await client.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { [SHARED_SECRET_LABEL]: "true" } },
    stringData: { "1": await make() },
  });
}
