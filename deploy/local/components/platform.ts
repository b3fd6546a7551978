import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LocalRepository } from "../git/repositories.ts";
import type { ApiClient } from "../kubernetes/api-client.ts";
import { clusterEntry } from "../kubernetes/kubeconfig.ts";
import { applyPlatformChart, platformAccount, renderPlatformChart } from "../platform/chart.ts";
import { applyGateEndpoints, gateValues } from "../platform/gate.ts";
import {
  gateProgram,
  type HostPlatform,
  keepProgramRunning,
  keepTokenFresh,
  operatorProgram,
} from "../platform/programs.ts";
import { ensureConsoleSecret, ensureWebhookKey } from "../platform/secrets.ts";
import { localSettings } from "../platform/settings.ts";
import type { ClusterSite } from "../site.ts";
import type { BuiltComponent } from "./component.ts";
import { sampleImage } from "./images.ts";

const manifestsFile = ({ folder }: ClusterSite) => join(folder, "platform-manifests.json");

/** The platform chart without its Deployments, rendered into a file. */
export const manifestsComponent: BuiltComponent = {
  name: "platform manifests",
  // Then the API server is still starting, and the processors have time.
  after: ["images"],
  async start(site) {
    const helm = join(site.built.controlplane.programs, "helm");
    const manifests = await renderPlatformChart(localSettings(site), helm, { gate: gateValues });
    await writeFile(manifestsFile(site), JSON.stringify(manifests));
  },
};

/** The platform chart without its Deployments, the way to the gate, and the sample's Repositories. */
export const platformComponent: BuiltComponent = {
  name: "platform chart",
  after: ["platform manifests", "kube-apiserver", "Argo CD settings", "identity provider"],
  async start(site) {
    await applyPlatformChart(site.client, JSON.parse(await readFile(manifestsFile(site), "utf8")));
    await Promise.all([
      applyGateEndpoints(site.client),
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
  start: (site) => keepTokenFresh(hostPlatform(site), operatorProgram),
};

/** The operator with its REST API, on the host. */
export const operatorComponent: BuiltComponent = {
  name: "operator",
  after: ["platform token", "Kubernetes' roles", "Argo CD settings", "identity provider"],
  start: (site) => keepProgramRunning(hostPlatform(site), operatorProgram),
};

/** A fresh token of the gate's ServiceAccount, which has other rights than the operator's. */
export const gateTokenComponent: BuiltComponent = {
  name: "gate token",
  after: ["platform chart"],
  start: (site) => keepTokenFresh(hostPlatform(site), gateProgram),
};

/** The gate, on the host. */
export const gateComponent: BuiltComponent = {
  name: "gate",
  after: ["gate token", "Kubernetes' roles", "network"],
  start: (site) => keepProgramRunning(hostPlatform(site), gateProgram),
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
