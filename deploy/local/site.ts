import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type Built, buildAll } from "./builds/build-all.ts";
import { clusterFolder, runFolder } from "./folders.ts";
import { type LocalRepositories, makeRepositories } from "./git/repositories.ts";
import { type ApiAccess, type ApiClient, apiClient } from "./kubernetes/api-client.ts";
import type { ControlPlaneSite } from "./kubernetes/control-plane-programs.ts";
import { clusterEntry, writeKubeconfig } from "./kubernetes/kubeconfig.ts";
import { type CertificateAuthority, certificateAuthority, signingKey } from "./kubernetes/pki.ts";
import { addresses } from "./network/addresses.ts";
import type { Progress } from "./progress.ts";

/** The facts that the components of the local cluster share. */
export interface ClusterSite {
  readonly folder: string;
  readonly built: Built;
  readonly ca: CertificateAuthority;
  readonly controlPlane: ControlPlaneSite;
  /** The cluster's administrator. */
  readonly access: ApiAccess;
  readonly adminKubeconfig: string;
  readonly client: ApiClient;
  /** The bare repositories are below it. */
  readonly repositoriesFolder: string;
  readonly repositories: LocalRepositories;
  /** Shows the steps of a start. */
  readonly progress: Progress;
}

/** Builds what is missing and prepares folder, keys and administrator of the local cluster; starts nothing. */
export async function prepareSite(progress: Progress): Promise<ClusterSite> {
  const built = await buildAll(progress);
  await mkdir(clusterFolder, { recursive: true, mode: 0o700 });
  await mkdir(runFolder, { recursive: true });
  // Only root may enter it.
  const etcdFolder = join(runFolder, "etcd");
  await mkdir(etcdFolder, { recursive: true, mode: 0o700 });
  const pki = join(clusterFolder, "pki");
  const ca = await certificateAuthority(pki);
  const clientCertificate = await ca.issue("admin", { commonName: "admin", organization: "system:masters" });
  const { address } = addresses.bridge;
  const url = `https://${address}:${addresses.apiServerPort}`;
  const access = { url, caFile: ca.certificate, clientCertificate };
  const controlPlane: ControlPlaneSite = {
    ...{ programs: built.controlplane.programs, folder: clusterFolder, address, port: addresses.apiServerPort },
    ...{ etcdFolder, etcdGateway: false, caFile: ca.certificate },
    ...{ serviceAccountKeys: await signingKey(pki, "service-accounts"), diesWithUs: false },
  };
  const adminKubeconfig = await writeKubeconfig(join(clusterFolder, "kubeconfig"), {
    ...{ cluster: clusterEntry(access), user: "admin", clientCertificate },
  });
  const client = apiClient(access);
  const repositoriesFolder = join(clusterFolder, "repositories");
  const repositories = await makeRepositories(repositoriesFolder);
  return {
    folder: clusterFolder,
    built,
    ca,
    controlPlane,
    access,
    adminKubeconfig,
    client,
    repositoriesFolder,
    repositories,
    progress,
  };
}
