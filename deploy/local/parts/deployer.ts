import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { addresses } from "../addresses.ts";
import { parseManifests } from "../api-client.ts";
import { applyArgoCdKinds } from "../argo-cd-kinds.ts";
import type { ProcessSpec } from "../process.ts";
import { answersPing } from "../redis-ping.ts";
import { type ClusterSite, kubeconfigFor } from "../site.ts";
import { keepRunning, type Part } from "./part.ts";

const { redisPort, repoServerPort, repoServerMetricsPort, applicationControllerMetricsPort } = addresses;

/** Argo CD's kinds, namespace, settings and rights. */
export const deployerSettingsPart: Part = {
  name: "Argo CD settings",
  after: ["kube-apiserver"],
  async start(site) {
    const file = join(import.meta.dirname, "../manifests/argo-cd.yaml");
    const [namespace, ...rest] = parseManifests(await readFile(file, "utf8"));
    if (!namespace) throw new Error(`${file} holds no manifest`);
    await Promise.all([applyArgoCdKinds(site.client, site.built.controlplane), site.client.apply(namespace)]);
    await Promise.all(rest.map((manifest) => site.client.apply(manifest)));
    await giveServerKey(site);
  },
};

/** Argo CD's cache. */
export const redisPart: Part = {
  name: "redis",
  after: [],
  start: (site) => keepRunning(site, program(site, "redis", [`127.0.0.1:${redisPort}`]), () => answersPing(redisPort)),
};

/** Argo CD's repo-server: charts become manifests. */
export const repoServerPart: Part = {
  name: "argocd-repo-server",
  after: ["redis"],
  async start(site) {
    const args = [
      ...["--redis", `127.0.0.1:${redisPort}`, "--address", "127.0.0.1", "--port", String(repoServerPort)],
      ...["--metrics-address", "127.0.0.1", "--metrics-port", String(repoServerMetricsPort)],
      ...["--disable-tls", "--client-ca-path=", "--loglevel", "warn"],
    ];
    await mkdir(join(site.folder, "argo-cd"), { recursive: true });
    await keepRunning(site, program(site, "argocd-repo-server", args), () => answers(repoServerMetricsPort));
  },
};

/** Argo CD's application-controller: Applications become objects. */
export const applicationControllerPart: Part = {
  name: "argocd-application-controller",
  after: ["Argo CD settings", "redis"],
  async start(site) {
    const subject = { commonName: "local:argocd-application-controller" };
    const kubeconfig = await kubeconfigFor(site, "argocd-application-controller", subject, "argocd");
    const args = [
      ...["--kubeconfig", kubeconfig, "--namespace", "argocd", "--redis", `127.0.0.1:${redisPort}`],
      ...["--repo-server", `127.0.0.1:${repoServerPort}`, "--repo-server-plaintext"],
      ...["--metrics-port", String(applicationControllerMetricsPort), "--loglevel", "warn"],
      // Sources are pinned to commits and changes come by watch: asking again is only a safety net.
      ...["--app-resync", "180", "--app-resync-jitter", "60", "--self-heal-timeout-seconds", "2"],
    ];
    const spec = program(site, "argocd-application-controller", args);
    const env = { ...spec.env, KUBECONFIG: kubeconfig };
    await mkdir(join(site.folder, "argo-cd"), { recursive: true });
    await keepRunning(site, { ...spec, env }, () => answers(applicationControllerMetricsPort));
  },
};

function program({ built, folder }: ClusterSite, name: string, args: readonly string[]): ProcessSpec {
  const { programs, files } = built.controlplane;
  const path = [programs, join(files, "hack"), built.helm.programs, process.env.PATH].join(":");
  return { name, command: join(programs, name), args, env: { ...environment(join(folder, "argo-cd")), PATH: path } };
}

/** Its working files in our folder, the cluster's own address from KUBECONFIG, and no throttling of its calls. */
function environment(home: string): Record<string, string> {
  return {
    ...{ HOME: home, TMPDIR: home },
    ...{ ARGOCD_FAKE_IN_CLUSTER: "true", ARGOCD_GPG_ENABLED: "false", ARGOCD_GIT_MODULES_ENABLED: "false" },
    ...{ ARGOCD_K8S_CLIENT_QPS: "200", ARGOCD_K8S_CLIENT_BURST: "400" },
    ...{ ARGOCD_SYNC_WAVE_DELAY: "0", ARGOCD_CLUSTER_CACHE_EVENTS_PROCESSING_INTERVAL: "20ms" },
  };
}

/** Argo CD refuses to work without a key for its (unused) sessions; an existing one is kept. */
async function giveServerKey({ client }: ClusterSite): Promise<void> {
  if (await client.find("/api/v1/namespaces/argocd/secrets/argocd-secret")) return;
  const metadata = { name: "argocd-secret", namespace: "argocd", labels: { "app.kubernetes.io/part-of": "argocd" } };
  const stringData = { "server.secretkey": randomBytes(16).toString("hex") };
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata, stringData });
}

async function answers(port: number): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(1000) })).ok;
}
