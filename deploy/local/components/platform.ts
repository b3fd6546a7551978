import { join } from "node:path";
import type { LocalRepository } from "../git/repositories.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";
import { clusterEntry } from "../kubernetes/kubeconfig.ts";
import { applyPlatformChart, platformAccount } from "../platform/chart.ts";
import { type HostPlatform, keepOperatorRunning, keepTokenFresh } from "../platform/programs.ts";
import { ensureConsoleSecret, ensureWebhookKey } from "../platform/secrets.ts";
import { localSettings } from "../platform/settings.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";
import { sampleImage } from "./images.ts";

/** The platform chart without its Deployment, and the sample's Repositories. */
export const platformComponent: BuiltComponent = {
  name: "platform chart",
  after: ["kube-apiserver", "Argo CD settings", "identity provider"],
  async start(site) {
    await applyPlatformChart(site.client, localSettings(site), {}, site.progress);
    await Promise.all([
      ensureWebhookKey(site.client),
      ensureConsoleSecret(site.client),
      register(site.client, "backend", site.repositories.backend),
      register(site.client, "frontend", site.repositories.frontend),
    ]);
  },
};

/** A fresh token of the chart's ServiceAccount in a file: the operator has exactly that identity. */
export const platformTokenComponent: BuiltComponent = {
  name: "platform token",
  after: ["platform chart"],
  start: (site) => keepTokenFresh(hostPlatform(site)),
};

/** The operator with its REST API, on the host. */
export const operatorComponent: BuiltComponent = {
  name: "operator",
  after: ["platform token", "Argo CD settings", "identity provider"],
  start: (site) => keepOperatorRunning(hostPlatform(site)),
};

function hostPlatform(site: ClusterSite): HostPlatform {
  const kubectl = join(site.built.controlplane.programs, "kubectl");
  return {
    folder: site.folder,
    cluster: clusterEntry(site.access),
    administrator: { kubectl, kubeconfig: site.adminKubeconfig },
    settings: localSettings(site),
  };
}

async function register(client: ApiClient, type: "backend" | "frontend", repository: LocalRepository): Promise<void> {
  await client.apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name: repository.name, namespace: platformAccount.namespace },
    spec: {
      type,
      cloneUrl: repository.url,
      image: { repository: sampleImage(repository.name) },
      port: 8080,
      healthPath: "/healthz",
    },
  });
}
