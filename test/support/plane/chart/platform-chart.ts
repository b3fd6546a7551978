import { dirname, join } from "node:path";
import { apiClient } from "../../../../deploy/local/kubernetes/api-client.ts";
import { helmProgram } from "../../../../deploy/local/kubernetes/helm.ts";
import { clusterEntry, writeKubeconfig } from "../../../../deploy/local/kubernetes/kubeconfig.ts";
import { applyPlatformChart, platformAccount, renderPlatformChart } from "../../../../deploy/local/platform/chart.ts";
import { requestPlatformToken } from "../../../../deploy/local/platform/token.ts";
import { testSettings } from "../../fixtures/test-settings.ts";
import { until } from "../../fixtures/until.ts";
import { callsAs } from "../api-calls.ts";
import type { ControlPlane } from "../own-control-plane.ts";

/** The platform's production identity, valid for four hours. */
export interface PlatformIdentity {
  readonly token: string;
  readonly kubeconfigPath: string;
}

/** Installs the platform chart with the test settings and the gate's identity, and waits until its policies hold. */
export async function installPlatformChart(plane: ControlPlane): Promise<PlatformIdentity> {
  const client = apiClient({ url: plane.url, caFile: plane.caFile, token: plane.adminToken });
  try {
    await client.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: "argocd" } });
    const manifests = await renderPlatformChart(testSettings, await helmProgram(), { gate: { enabled: true } });
    await applyPlatformChart(client, manifests);
  } finally {
    client.close();
  }
  const user = { kubectl: plane.kubectl, kubeconfig: plane.kubeconfigPath };
  const { token } = await requestPlatformToken(user, platformAccount, 4 * 3600);
  await untilPoliciesHold(plane, token);
  // Beside the administrator's: removed with the control plane.
  const path = join(dirname(plane.kubeconfigPath), "platform.kubeconfig");
  const kubeconfigPath = await writeKubeconfig(path, { cluster: clusterEntry(plane), user: "platform", token });
  return { token, kubeconfigPath };
}

/**
 * The API server enforces policies about 150 ms after their bindings; until then everything is allowed. They are written by
 * name, so this tries the last.
 */
async function untilPoliciesHold(plane: ControlPlane, token: string): Promise<void> {
  const platform = callsAs(plane, { token });
  const binding = {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "foreign" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" },
  };
  const path = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings?dryRun=All";
  const holds = async () => (await platform.create(path, binding)).message.includes("binds roles only in namespaces");
  await until(holds, { what: "the platform's policies to hold" });
}
