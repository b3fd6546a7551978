import type { ApiClient, Manifest } from "./api-client.ts";
import { renderChart } from "./helm.ts";
import type { Progress } from "./progress.ts";
import { waitUntil } from "./wait.ts";

/** The namespace and the ServiceAccount that the platform lives under. */
export const platformNamespace = "ephemeral-system";
const serviceAccountPath = `/api/v1/namespaces/${platformNamespace}/serviceaccounts/platform`;

const first = ["Namespace", "CustomResourceDefinition"];
const policies = ["ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"];

/**
 * Installs the platform chart without the operator's Deployment: the kinds, the platform's identity with its rights, and
 * the policies. Idempotent. The deployer's namespace must exist. Settings are those of config/settings.schema.ts.
 *
 * Returns when the kinds are served. Policies hold a moment later; they are written one after the other, by name, so
 * that all hold as soon as the last does.
 */
export async function applyPlatformChart(client: ApiClient, settings: object, progress?: Progress): Promise<void> {
  const values = { settings, createNamespace: true, operator: { enabled: false } };
  const release = { chart: "platform", release: "platform", namespace: platformNamespace, values } as const;
  const manifests = await renderChart(release, progress);
  const ofKinds = (kinds: readonly string[]) => manifests.filter(({ kind }) => kinds.includes(kind));
  await applyAll(client, ofKinds(first));
  await applyAll(
    client,
    manifests.filter(({ kind }) => ![...first, ...policies].includes(kind)),
  );
  for (const manifest of ofKinds(policies).sort(byName)) await client.apply(manifest);
  for (const { metadata } of ofKinds(["CustomResourceDefinition"])) await untilServed(client, metadata.name);
}

/**
 * A fresh token of the platform's ServiceAccount.
 *
 * The API server may grant less than the `seconds` that were asked for: renew by `expiresAt`.
 */
export async function requestPlatformToken(
  client: ApiClient,
  seconds: number,
): Promise<{ token: string; expiresAt: Date }> {
  const reply = await client.call("POST", `${serviceAccountPath}/token`, {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: { expirationSeconds: seconds },
  });
  if (reply.status !== 201) throw new Error(`no token for the platform: ${reply.status} ${reply.body.slice(0, 500)}`);
  const { status } = JSON.parse(reply.body) as { status: { token: string; expirationTimestamp: string } };
  return { token: status.token, expiresAt: new Date(status.expirationTimestamp) };
}

async function applyAll(client: ApiClient, manifests: readonly Manifest[]): Promise<void> {
  await Promise.all(manifests.map((manifest) => client.apply(manifest)));
}

function byName(one: Manifest, other: Manifest): number {
  return one.metadata.name < other.metadata.name ? -1 : 1;
}

async function untilServed(client: ApiClient, definition: string): Promise<void> {
  const [plural, ...group] = definition.split(".");
  const path = `/apis/${group.join(".")}/v1/${plural}?limit=1`;
  const check = async () => (await client.call("GET", path)).status === 200;
  await waitUntil({ what: `the kind ${definition} to be served`, check, deadlineMs: 20_000 });
}
