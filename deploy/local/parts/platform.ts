import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { addresses } from "../addresses.ts";
import type { ApiClient } from "../api-client.ts";
import { writeKubeconfig } from "../kubeconfig.ts";
import { applyPlatformChart, platformNamespace } from "../platform-chart.ts";
import { localSettings } from "../platform-settings.ts";
import type { LocalRepository } from "../repositories.ts";
import type { ClusterSite } from "../site.ts";
import { sampleImage } from "./images.ts";
import { keepRunning, type Part } from "./part.ts";

const checkout = resolve(import.meta.dirname, "../../..");
const tokenFileOf = (site: ClusterSite) => join(site.folder, "platform-token");

/** The platform chart without its Deployment, and the Repositories of the sample application. */
export const platformPart: Part = {
  name: "platform chart",
  after: ["kube-apiserver", "Argo CD settings"],
  async start(site) {
    await applyPlatformChart(site.client, localSettings(site), site.progress);
    await Promise.all([
      register(site.client, "backend", site.repositories.backend),
      register(site.client, "frontend", site.repositories.frontend),
    ]);
  },
};

/** A token of the chart's ServiceAccount in a file that is kept fresh: the operator has exactly that identity. */
export const platformTokenPart: Part = {
  name: "platform token",
  after: ["platform chart"],
  async start(site) {
    const { url, caFile, clientCertificate } = site.access;
    if (clientCertificate === undefined) throw new Error("tokens are requested with the administrator's certificate");
    const { certificate, key } = clientCertificate;
    const script = join(checkout, "deploy/local/renew-token.ts");
    const spec = {
      name: "platform-token",
      command: process.execPath,
      args: [script, url, caFile, certificate, key, tokenFileOf(site)],
    };
    await keepRunning(site, spec, () => existsSync(tokenFileOf(site)));
  },
};

/** The operator with its REST API, on the host. */
export const operatorPart: Part = {
  name: "operator",
  after: ["platform token", "Argo CD settings", "identity provider"],
  async start(site) {
    const { url, caFile } = site.access;
    const kubeconfig = await writeKubeconfig(join(site.folder, "operator.kubeconfig"), {
      ...{ url, caFile, user: "platform", tokenFile: tokenFileOf(site), namespace: platformNamespace },
    });
    const settings = join(site.folder, "settings.yaml");
    await writeFile(settings, JSON.stringify(localSettings(site), null, 2));
    const spec = {
      name: "operator",
      command: process.execPath,
      args: [join(checkout, "operator/main.ts"), "--settings", settings],
      env: { KUBECONFIG: kubeconfig },
    };
    await keepRunning(site, spec, isReady);
  },
};

async function isReady(): Promise<boolean> {
  const url = `http://127.0.0.1:${addresses.probesPort}/readyz`;
  return (await fetch(url, { signal: AbortSignal.timeout(2_000) })).ok;
}

async function register(client: ApiClient, type: "backend" | "frontend", repository: LocalRepository): Promise<void> {
  await client.apply({
    apiVersion: "ephemeral-environments.dev/v1",
    kind: "Repository",
    metadata: { name: repository.name, namespace: platformNamespace },
    spec: {
      type,
      cloneUrl: repository.url,
      image: { repository: sampleImage(repository).replace(`:${repository.commit}`, "") },
      port: 8080,
      healthPath: "/healthz",
    },
  });
}
