import { dirname, join } from "node:path";
import { runFolder } from "../folders.ts";
import { addresses } from "../network/addresses.ts";
import { mountOnce } from "../processes/mounts.ts";
import { keepRunning, type ProcessSpec } from "../processes/process.ts";
import { ownCopy, ownFolder, programUsers } from "../processes/unprivileged.ts";
import type { ClusterSite } from "../site.ts";
import { argoCdEnvironment, argoCdIsHealthy } from "./argo-cd.ts";
import type { BuiltComponent } from "./component.ts";
import { argoCdRedis, redisClient } from "./redis.ts";

const { repoServerPort, repoServerMetricsPort } = addresses;
const user = programUsers.repoServer;

/** The programs and data of the repo-server: bind mounts, because its user may not enter root's folders. */
const folders = {
  controlplane: join(runFolder, "repo-server/controlplane"),
  data: join(runFolder, "repo-server/data"),
};

/**
 * Argo CD's repo-server renders charts. It reads untrusted input, so it is not root. An administrator applies its manifests,
 * so it serves only clients with a certificate of the cluster, and has one itself.
 */
export const repoServerComponent: BuiltComponent = {
  name: "argocd-repo-server",
  after: ["network", "redis"],
  async start(site) {
    await prepareFolders(site);
    const spec = await repoServerProgram(site);
    await keepRunning(site.folder, spec, () => argoCdIsHealthy(repoServerMetricsPort, "?full=true"));
  },
};

/** Arguments by which a client of the repo-server presents its certificate and verifies the server's. */
export async function repoServerClient({ ca }: Pick<ClusterSite, "ca">): Promise<string[]> {
  const { certificate, key } = await ca.issue("repo-server-client", { commonName: "local:repo-server-client" });
  return [
    `--repo-server=127.0.0.1:${repoServerPort}`,
    `--repo-server-ca-cert-path=${ca.certificate}`,
    `--repo-server-client-cert-path=${certificate}`,
    `--repo-server-client-cert-key-path=${key}`,
  ];
}

const authority = join(folders.data, "ca.crt");
/** The local authority alone, for charts served by a program on this machine. The machine's authorities stay trusted. */
const authorities = join(folders.data, "authorities");
/** Argo CD appends `reposerver/tls/tls.crt` and `tls.key` (reposerver/server.go). */
const configuration = join(folders.data, "config");

async function prepareFolders({ folder, built, ca }: ClusterSite): Promise<void> {
  const data = join(folder, "repo-server");
  for (const path of ["", "authorities", "config", "config/reposerver", "config/reposerver/tls"]) {
    await ownFolder(join(data, path), user);
  }
  await mountOnce(dirname(built.controlplane.programs), folders.controlplane);
  await mountOnce(data, folders.data);
  const subject = { commonName: "argocd-repo-server", alternativeNames: ["IP:127.0.0.1"] };
  const { certificate, key } = await ca.issue("argocd-repo-server", subject);
  await ownCopy(ca.certificate, authority, user);
  await ownCopy(ca.certificate, join(authorities, "ca.crt"), user);
  await ownCopy(certificate, join(configuration, "reposerver/tls/tls.crt"), user);
  await ownCopy(key, join(configuration, "reposerver/tls/tls.key"), user);
}

async function repoServerProgram(site: ClusterSite): Promise<ProcessSpec> {
  const redis = redisClient(await argoCdRedis(site), authority);
  const programs = join(folders.controlplane, "programs");
  const path = [programs, join(folders.controlplane, "files/hack"), process.env.PATH];
  const args = [
    ...redis.args,
    "--address=127.0.0.1",
    `--port=${repoServerPort}`,
    `--client-ca-path=${authority}`,
    "--metrics-address=127.0.0.1",
    `--metrics-port=${repoServerMetricsPort}`,
    "--loglevel=warn",
  ];
  const env = {
    ...argoCdEnvironment(folders.data),
    ...redis.env,
    ARGOCD_APP_CONF_PATH: configuration,
    // Read by the repo-server's own clients and by its helm: https://pkg.go.dev/crypto/x509#SystemCertPool.
    SSL_CERT_DIR: authorities,
    ARGOCD_ASK_PASS_SOCK: join(folders.data, "ask-pass.sock"),
    PATH: path.join(":"),
  };
  return {
    name: "argocd-repo-server",
    command: join(programs, "argocd-repo-server"),
    args,
    env,
    cwd: folders.data,
    ...user,
  };
}
