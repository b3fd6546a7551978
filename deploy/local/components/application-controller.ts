import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Manifest, parseManifests } from "../kubernetes/api-client.ts";
import { applyArgoCdKinds } from "../kubernetes/custom-kinds.ts";
import { kubeconfigFor } from "../kubernetes/kubeconfig.ts";
import { addresses } from "../network/addresses.ts";
import { keepRunning } from "../processes/process.ts";
import type { ClusterSite } from "../site.ts";
import { argoCdEnvironment, argoCdIsHealthy } from "./argo-cd.ts";
import type { BuiltComponent } from "./component.ts";
import { argoCdRedis, redisClient } from "./redis.ts";
import { repoServerClient } from "./repo-server.ts";

const { applicationControllerMetricsPort } = addresses;

/** Argo CD's kinds, namespace, settings and rights. */
export const deployerSettingsComponent: BuiltComponent = {
  name: "Argo CD settings",
  after: ["kube-apiserver"],
  async start(site) {
    const file = join(import.meta.dirname, "../manifests/argo-cd.yaml");
    const [namespace, ...rest] = parseManifests(await readFile(file, "utf8"));
    if (!namespace) throw new Error(`${file} holds no manifest`);
    await Promise.all([applyArgoCdKinds(site.client, site.built.controlplane), site.client.apply(namespace)]);
    const health = await environmentHealth();
    const completed = rest.map((manifest) =>
      manifest.metadata.name === "argocd-cm" ? withData(manifest, health) : manifest,
    );
    await Promise.all(completed.map((manifest) => site.client.apply(manifest)));
    await giveServerKey(site);
  },
};

const healthFile = join(import.meta.dirname, "../../charts/platform/files/argocd-health.lua");

/** The setting of argocd-cm by which Argo CD shows the health of environments: the platform chart's file. */
async function environmentHealth(): Promise<Record<string, string>> {
  const setting = "resource.customizations.health.ephemeral-environments.dev_EphemeralEnvironment";
  return { [setting]: await readFile(healthFile, "utf8") };
}

function withData(manifest: Manifest, added: Record<string, string>): Manifest {
  return { ...manifest, data: { ...(manifest.data as object), ...added } };
}

const name = "argocd-application-controller";

/** The deployer. */
export const applicationControllerComponent: BuiltComponent = {
  name,
  after: ["Argo CD settings", "Kubernetes' roles", "network", "redis"],
  async start(site) {
    // The name of its ServiceAccount in other clusters, by which the platform's policies recognize Argo CD.
    const subject = { commonName: "system:serviceaccount:argocd:argocd-application-controller" };
    const kubeconfig = await kubeconfigFor(site, name, subject, "argocd");
    const redis = redisClient(await argoCdRedis(site));
    const args = [
      "--kubeconfig",
      kubeconfig,
      "--namespace",
      "argocd",
      ...redis.args,
      ...(await repoServerClient(site)),
      "--metrics-port",
      String(applicationControllerMetricsPort),
      "--loglevel",
      "warn",
      "--app-resync",
      "180",
      "--app-resync-jitter",
      "60",
      "--self-heal-timeout-seconds",
      "2",
    ];
    const home = join(site.folder, "argo-cd");
    await mkdir(home, { recursive: true });
    const env = { ...argoCdEnvironment(home), ...redis.env, KUBECONFIG: kubeconfig };
    const command = join(site.built.controlplane.programs, name);
    const spec = { name, command, args, env };
    await keepRunning(site.folder, spec, () => argoCdIsHealthy(applicationControllerMetricsPort));
  },
};

/** Argo CD requires a key for its (unused) sessions; an existing one is kept. */
async function giveServerKey({ client }: ClusterSite): Promise<void> {
  if (await client.find("/api/v1/namespaces/argocd/secrets/argocd-secret")) return;
  const metadata = { name: "argocd-secret", namespace: "argocd", labels: { "app.kubernetes.io/part-of": "argocd" } };
  const stringData = { "server.secretkey": randomBytes(16).toString("hex") };
  await client.apply({ apiVersion: "v1", kind: "Secret", metadata, stringData });
}
