import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Progress, silentProgress } from "../../../deploy/build/progress.ts";
import type { Wait } from "../../../deploy/build/wait.ts";
import { type BuiltModule, buildModule } from "../../../deploy/local/builds/build.ts";
import { goModules } from "../../../deploy/local/builds/modules.ts";
import { type ApiAccess, type ApiClient, apiClient } from "../../../deploy/local/kubernetes/api-client.ts";
import {
  apiServerIsReady,
  type ControlPlaneSite,
  controllersAreReady,
  DEFAULT_SERVICE_ACCOUNT,
  etcd,
  etcdIsReady,
  etcdSocket,
  kubeApiServer,
  kubeControllerManager,
} from "../../../deploy/local/kubernetes/control-plane-programs.ts";
import { applyArgoCdKinds } from "../../../deploy/local/kubernetes/custom-kinds.ts";
import { clusterEntry, kubeconfigFor, writeKubeconfig } from "../../../deploy/local/kubernetes/kubeconfig.ts";
import { type CertificateAuthority, certificateAuthority, signingKey } from "../../../deploy/local/kubernetes/pki.ts";
import {
  type ProcessRecord,
  type ProcessSpec,
  startProcess,
  stopProcess,
  untilReady,
} from "../../../deploy/local/processes/process.ts";
import { freePorts } from "../fixtures/free-ports.ts";
import { clearAbandoned, markOwned, parentForSockets } from "./temporary-folders.ts";

/** A program of the control plane, for `restart` and `kill`. */
export type ControlPlaneProgram = "etcd" | "kube-apiserver" | "kube-controller-manager";

export interface ControlPlaneOptions {
  /** Installs Argo CD's kinds Application and AppProject, without a controller. Default true. */
  readonly argoCd?: boolean;
  /** Lets etcd answer in JSON, too (https://etcd.io/docs/v3.6/dev-guide/api_grpc_gateway/). Default false. */
  readonly etcdGateway?: boolean;
  readonly progress?: Progress;
}

/** A running API server with the controllers of namespaces, ServiceAccounts, garbage collection and quotas. */
export interface ControlPlane {
  readonly kubeconfigPath: string;
  readonly adminToken: string;
  /** `https://127.0.0.1:<port>`; a restart keeps the port. */
  readonly url: string;
  /** The PEM file of the API server's authority. */
  readonly caFile: string;
  /** The Unix socket of etcd, for writes past the API server. */
  readonly etcdSocket: string;
  /** kubectl of the same version. */
  readonly kubectl: string;
  /** Ends one program with SIGKILL, or with SIGTERM and SIGKILL after `graceMs`; it stays away until `restart`. */
  kill(program: ControlPlaneProgram, options?: { readonly graceMs?: number }): Promise<void>;
  /**
   * Restarts one program, ended with SIGKILL, with the same state, and waits until it is ready. A controller manager without
   * an API server pauses for up to a minute, in which no namespace is deleted: a running one is restarted with the API
   * server or etcd.
   */
  restart(program: ControlPlaneProgram): Promise<void>;
  /** Ends everything with SIGKILL and removes its state. */
  stop(): Promise<void>;
}

const folderPrefix = "ephemeral-control-plane-";
const controllers = [
  "namespace-controller",
  "serviceaccount-controller",
  "garbage-collector-controller",
  "resourcequota-controller",
];

/**
 * Starts a control plane on free loopback ports, with its state in a temporary folder, and returns when namespaces can be
 * created and deleted. Several can run at once, without root. Its programs end with our process, for any reason. The first
 * start on a machine builds the programs (minutes).
 *
 * Fails with the end of the log when a program ends early or is not ready in time.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { argoCd = true, etcdGateway = false, progress = silentProgress } = options;
  const built = await buildModule(goModules.controlplane, progress);
  const parent = parentForSockets(folderPrefix);
  await clearAbandoned(folderPrefix, parent);
  const folder = await mkdtemp(join(parent, folderPrefix));
  await markOwned(folder);
  const plane = await describePlane(folder, built, etcdGateway);
  try {
    await plane.restart("etcd");
    await plane.restart("kube-apiserver");
    const crds = argoCd ? applyArgoCdKinds(plane.client, built) : Promise.resolve();
    await Promise.all([plane.restart("kube-controller-manager"), crds]);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}

interface Program {
  readonly spec: ProcessSpec;
  /** The check of one start. */
  readonly readiness: () => Wait["check"];
}

async function describePlane(
  folder: string,
  built: BuiltModule,
  etcdGateway: boolean,
): Promise<ControlPlane & { client: ApiClient }> {
  const ca = await certificateAuthority(join(folder, "pki"));
  const site = await describeSite(folder, built, { ca, etcdGateway });
  const token = randomBytes(24).toString("hex");
  const access = { url: `https://${site.address}:${site.port}`, caFile: site.caFile, token };
  const administrator = { cluster: clusterEntry(access), user: "admin", token };
  const client = apiClient(access);
  const programs = await describePrograms(site, access, { ca, client });
  const running = new Map<ControlPlaneProgram, ProcessRecord>();
  const kill: ControlPlane["kill"] = async (name, { graceMs = 0 } = {}) => {
    const record = running.get(name);
    if (record) await stopProcess(folder, record, graceMs);
    running.delete(name);
  };
  const restart = async (name: ControlPlaneProgram): Promise<void> => {
    await kill(name);
    const { spec, readiness } = programs[name];
    const record = await startProcess(folder, spec);
    running.set(name, record);
    await untilReady(record, readiness());
    const manager = "kube-controller-manager";
    const server = running.get("kube-apiserver");
    if (name === manager || server === undefined || !running.has(manager)) return;
    // After etcd's return the API server reconnects within seconds; controllers that find it unwell end themselves.
    await untilReady(server, programs["kube-apiserver"].readiness());
    await restart(manager);
  };
  return {
    client,
    adminToken: token,
    url: access.url,
    caFile: access.caFile,
    etcdSocket: etcdSocket(site),
    kubeconfigPath: await writeKubeconfig(join(folder, "kubeconfig"), administrator),
    kubectl: join(site.programs, "kubectl"),
    kill,
    restart,
    async stop() {
      client.close();
      for (const name of ["kube-controller-manager", "kube-apiserver", "etcd"] as const) await kill(name);
      await keepLogs(folder);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function keepLogs(folder: string): Promise<void> {
  const { PROGRAM_LOGS } = process.env;
  const [logs, kept] = [join(folder, "log"), join(PROGRAM_LOGS ?? "", basename(folder))];
  if (PROGRAM_LOGS && existsSync(logs)) await cp(logs, kept, { recursive: true });
}

async function describeSite(
  folder: string,
  built: BuiltModule,
  { ca, etcdGateway }: { ca: CertificateAuthority; etcdGateway: boolean },
): Promise<ControlPlaneSite> {
  const [port = 0] = await freePorts(1);
  return {
    programs: built.programs,
    folder,
    address: "127.0.0.1",
    port,
    etcdFolder: folder,
    etcdGateway,
    caFile: ca.certificate,
    serviceAccountKeys: await signingKey(join(folder, "pki"), "service-accounts"),
    diesWithUs: true,
  };
}

async function describePrograms(
  site: ControlPlaneSite,
  access: ApiAccess,
  { ca, client }: { ca: CertificateAuthority; client: ApiClient },
): Promise<Record<ControlPlaneProgram, Program>> {
  const serving = await ca.issue("kube-apiserver", {
    commonName: "kube-apiserver",
    alternativeNames: ["IP:127.0.0.1", "DNS:localhost"],
  });
  const tokens = join(site.folder, "tokens.csv");
  await writeFile(tokens, `${access.token},admin,admin,system:masters\n`, { mode: 0o600 });
  // No endpoints controller runs, so the API server must not wait for its own Service's endpoints.
  const apiServer = kubeApiServer(site, serving, ["--token-auth-file", tokens, "--endpoint-reconciler-type", "none"]);
  const user = { commonName: "system:kube-controller-manager" };
  const kubeconfig = await kubeconfigFor({ folder: site.folder, ca, access }, "kube-controller-manager", user);
  const manager = kubeControllerManager(site, kubeconfig, ["--controllers", controllers.join(",")]);
  return {
    etcd: { spec: etcd(site), readiness: () => () => etcdIsReady(site) },
    "kube-apiserver": { spec: apiServer, readiness: () => () => apiServerIsReady(client) },
    "kube-controller-manager": { spec: manager, readiness: () => newControllersAreReady(client) },
  };
}

/** Removes what the former controllers made, for the new ones to make; asks again while the API server can't answer yet. */
function newControllersAreReady(client: ApiClient): Wait["check"] {
  let isRemoved = false;
  return async () => {
    isRemoved ||= [200, 404].includes((await client.call("DELETE", DEFAULT_SERVICE_ACCOUNT)).status);
    return isRemoved && (await controllersAreReady(client));
  };
}
