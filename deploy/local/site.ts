import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Progress } from "../build/progress.ts";
import { type Built, buildAll } from "./builds/build-all.ts";
import { clusterFolder, runFolder } from "./folders.ts";
import { type LocalRepositories, makeRepositories } from "./git/repositories.ts";
import { type ApiAccess, type ApiClient, apiClient } from "./kubernetes/api-client.ts";
import type { ControlPlaneSite } from "./kubernetes/control-plane-programs.ts";
import { clusterEntry, writeKubeconfig } from "./kubernetes/kubeconfig.ts";
import { type CertificateAuthority, certificateAuthority, signingKey } from "./kubernetes/pki.ts";
import { addresses } from "./network/addresses.ts";

const pki = join(clusterFolder, "pki");

/** Facts shared by the local cluster's components before the build. */
export interface PreparedSite {
  readonly folder: string;
  readonly ca: CertificateAuthority;
  readonly access: ApiAccess;
  readonly adminKubeconfig: string;
  readonly client: ApiClient;
  /** The folder above the bare repositories. */
  readonly repositoriesFolder: string;
  readonly repositories: LocalRepositories;
  readonly progress: Progress;
}

/** Facts shared by all components of the local cluster. */
export interface ClusterSite extends PreparedSite {
  readonly built: Built;
  readonly controlPlane: ControlPlaneSite;
}

/** Prepares folder, keys, administrator and repositories of the local cluster within a second; starts and builds nothing. */
export async function prepareSite(progress: Progress): Promise<PreparedSite> {
  await mkdir(clusterFolder, { recursive: true, mode: 0o700 });
  await mkdir(runFolder, { recursive: true });
  const ca = await certificateAuthority(pki);
  const clientCertificate = await ca.issue("admin", { commonName: "admin", organization: "system:masters" });
  const { address } = addresses.bridge;
  const url = `https://${address}:${addresses.apiServerPort}`;
  const access = { url, caFile: ca.certificate, clientCertificate };
  const adminKubeconfig = await writeKubeconfig(join(clusterFolder, "kubeconfig"), {
    cluster: clusterEntry(access),
    user: "admin",
    clientCertificate,
  });
  const client = apiClient(access);
  const repositoriesFolder = join(clusterFolder, "repositories");
  const repositories = await makeRepositories(repositoriesFolder);
  return {
    folder: clusterFolder,
    ca,
    access,
    adminKubeconfig,
    client,
    repositoriesFolder,
    repositories,
    progress,
  };
}

/** Builds missing parts (minutes on a cold machine). */
export async function buildSite(site: PreparedSite): Promise<ClusterSite> {
  const built = await buildAll(site.progress);
  // Only root may enter it.
  const etcdFolder = join(runFolder, "etcd");
  await mkdir(etcdFolder, { recursive: true, mode: 0o700 });
  const { address } = addresses.bridge;
  const controlPlane: ControlPlaneSite = {
    programs: built.controlplane.programs,
    folder: site.folder,
    address,
    port: addresses.apiServerPort,
    etcdFolder,
    etcdGateway: false,
    caFile: site.ca.certificate,
    serviceAccountKeys: await signingKey(pki, "service-accounts"),
    diesWithUs: false,
  };
  return { ...site, built, controlPlane };
}
