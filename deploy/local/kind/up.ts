import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Progress } from "../../build/progress.ts";
import type { LocalRepositories } from "../git/repositories.ts";
import type { ClusterUser } from "../kubernetes/kubectl.ts";
import { type CertificateAuthority, certificateAuthority } from "../kubernetes/pki.ts";
import { type Fetch, installArgoCd } from "./argo-cd.ts";
import { type Bridge, bridgeOf, CLUSTER_NAME, ensureCluster } from "./cluster.ts";
import type { Images } from "./images.ts";
import { installIngress } from "./ingress.ts";
import { installPlatform } from "./platform.ts";
import type { KindTools } from "./tools.ts";

/** Sources of the cluster's parts. */
export interface Sources {
  readonly read: Fetch;
  /** Starts the cluster's programs on this machine. */
  hostPrograms(folder: string, ca: CertificateAuthority, bridge: Bridge): Promise<LocalRepositories>;
  images(folder: string, repositories: LocalRepositories): Promise<Images>;
}

/** The folder of the cluster's state on this machine, and the progress display. */
export interface Site {
  readonly folder: string;
  readonly progress: Progress;
}

/** A kind cluster with the platform. */
export interface KindPlatform {
  readonly administrator: ClusterUser;
  readonly ca: CertificateAuthority;
}

/**
 * Ensures a kind cluster with Argo CD, an ingress and the platform, installed by helm, and its programs on this machine.
 * Repeatable: existing parts stay, and the platform is upgraded.
 */
export async function startKindPlatform(
  tools: KindTools,
  sources: Sources,
  { folder, progress }: Site,
): Promise<KindPlatform> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const ca = await certificateAuthority(join(folder, "pki"));
  const kubeconfig = await progress.step("kind cluster", () => ensureCluster(tools, folder));
  const administrator: ClusterUser = { kubectl: tools.kubectl, kubeconfig };
  const bridge: Bridge = await bridgeOf(tools);
  const repositories = await progress.step("git server, identity provider", () =>
    sources.hostPrograms(folder, ca, bridge),
  );
  const images = await sources.images(folder, repositories);
  await progress.step("load the images", async () => {
    for (const archive of images.archives) await tools.kind.loadImageArchive(CLUSTER_NAME, archive);
  });
  await progress.step("Argo CD", () => installArgoCd(administrator, sources.read));
  const ingressAddress = await progress.step("traefik", () => installIngress(administrator, ca));
  const surroundings = { bridge, repositories, ingressAddress, images, ca };
  await progress.step("platform chart", () => installPlatform(administrator, tools.helm, surroundings));
  return { administrator, ca };
}
