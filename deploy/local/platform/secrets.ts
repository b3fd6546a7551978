import { randomBytes } from "node:crypto";
import { SHARED_SECRET_LABEL } from "../../../crds/group.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";

/** Where the embedded secret manager keeps values, unless the settings say otherwise. */
const namespace = "ephemeral-secrets";

/** The key of all webhooks of the local cluster, in its secret manager. */
export const webhookKeyRef = { name: "webhooks", key: "latest" } as const;

/** The token of the platform's account on Gitea. It is missing before \`make gitea\`. */
export const giteaTokenRef = { name: "gitea-token", key: "latest" } as const;

/** Makes sure that there is a key of webhooks, and answers it: random, another one for each cluster. */
export async function ensureWebhookKey(client: ApiClient): Promise<string> {
  return ensureSecret(client, webhookKeyRef.name, async () => randomBytes(32).toString("base64url"));
}

/** Answers a value of the secret manager, which is made when it is not there. */
export async function ensureSecret(client: ApiClient, name: string, make: () => Promise<string>): Promise<string> {
  const known = await client.find(`/api/v1/namespaces/${namespace}/secrets/${name}`);
  const value = (known?.data as Record<string, string> | undefined)?.["1"];
  if (value !== undefined) return Buffer.from(value, "base64").toString();
  const made = await make();
  await client.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace, labels: { [SHARED_SECRET_LABEL]: "true" } },
    stringData: { "1": made },
  });
  return made;
}
