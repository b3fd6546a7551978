import { dirname, join } from "node:path";
import { KubeConfig } from "@kubernetes/client-node";
import { apiClient } from "../../../deploy/local/api-client.ts";
import { clusterEntry, writeKubeconfig } from "../../../deploy/local/kubeconfig.ts";
import { applyPlatformChart, platformAccount } from "../../../deploy/local/platform-chart.ts";
import { requestPlatformToken } from "../../../deploy/local/platform-token.ts";
import { waitUntil } from "../../../deploy/local/wait.ts";
import { callsAs } from "../http/api-calls.ts";
import type { SharedControlPlane } from "./control-plane.ts";

/** What suites on the shared control plane install with: the policies are cluster-wide, so all must agree. */
export const testSettings = {
  baseDomain: "env.localhost",
  publicPort: 18443,
  defaultChart: { repoUrl: "http://127.0.0.1:9300/platform/environment-chart.git", path: ".", revision: "main" },
};

/** The identity that the operator has in production, and nothing more. */
export interface PlatformIdentity {
  readonly platformToken: string;
  readonly kubeconfigPath: string;
  /** The same for the kit's client. */
  readonly kubeConfig: KubeConfig;
}

/**
 * Installs the platform chart (idempotent, also from several suites at once) and waits until its policies hold.
 *
 * Everything that a test lets the platform do must be done under the returned identity, valid for four hours. Settings
 * other than the test settings need a control plane of one's own.
 */
export async function installPlatformChart(
  plane: SharedControlPlane,
  { settings = testSettings }: { settings?: object } = {},
): Promise<PlatformIdentity> {
  const client = apiClient({ url: plane.url, caFile: plane.caFile, token: plane.adminToken });
  try {
    await client.apply({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "argocd" },
    });
    await applyPlatformChart(client, settings);
    const user = { kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath };
    const { token } = await requestPlatformToken(user, platformAccount, 4 * 3600);
    await untilPoliciesHold(plane, token);
    return await identity(plane, token);
  } finally {
    client.close();
  }
}

async function identity(plane: SharedControlPlane, token: string): Promise<PlatformIdentity> {
  // Beside the administrator's: it goes when the control plane is stopped.
  const path = join(dirname(plane.kubeconfigPath), `platform-${process.pid}.kubeconfig`);
  const kubeconfigPath = await writeKubeconfig(path, { cluster: clusterEntry(plane), user: "platform", token });
  const kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(kubeconfigPath);
  return { platformToken: token, kubeconfigPath, kubeConfig };
}

/**
 * The API server takes up policies about 150 ms after their bindings; until then it lets everything through. They are
 * written by name, so this tries the last.
 */
async function untilPoliciesHold(plane: SharedControlPlane, token: string): Promise<void> {
  const platform = callsAs(plane, { token });
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "foreign" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" },
  };
  const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings?dryRun=All";
  const check = async () => (await platform.create(path, binding)).message.includes("binds roles only in namespaces");
  await waitUntil({ what: "the platform's policies to hold", check, deadlineMs: 20_000 });
}
