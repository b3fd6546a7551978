import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApiClient, apiClient, parseManifests } from "./api-client.ts";
import { type BuiltComponent, buildComponent, goComponents } from "./binaries.ts";
import { type ControlPlaneSite, etcd, kubeApiServer, kubeControllerManager } from "./control-plane-programs.ts";
import { freePorts } from "./free-ports.ts";
import { writeKubeconfig } from "./kubeconfig.ts";
import { certificateAuthority, signingKey } from "./pki.ts";
import { type ProcessRecord, type ProcessSpec, startProcess, stopProcess, untilReady } from "./process.ts";
import { type Progress, silentProgress } from "./progress.ts";
import { clearAbandoned, markOwned } from "./temporary-folders.ts";
import { waitUntil } from "./wait.ts";

/** A program of the control plane, as `restart` and `kill` name it. */
export type ControlPlaneProgram = "etcd" | "kube-apiserver" | "kube-controller-manager";

/** What a control plane for tests is to have. */
export interface ControlPlaneOptions {
  /** With Argo CD's Application and AppProject kinds; nothing acts on them. Default true. */
  readonly argoCd?: boolean;
  readonly progress?: Progress;
}

/** A running API server with the controllers that make namespaces, ServiceAccounts, garbage and quotas real. */
export interface ControlPlane {
  /** A kubeconfig of a cluster administrator. */
  readonly kubeconfigPath: string;
  /** The same administrator's bearer token. */
  readonly adminToken: string;
  /** `https://127.0.0.1:<port>`; the port survives a restart of the API server. */
  readonly url: string;
  /** The PEM file of the authority that signed the API server's certificate. */
  readonly caFile: string;
  /** The kubectl that belongs to it. */
  readonly kubectl: string;
  /** Ends one program with SIGKILL, as a crash would; it stays away until `restart`. */
  kill(program: ControlPlaneProgram): Promise<void>;
  /** Ends one program with SIGKILL if it runs, starts it again with the same state, and waits until it is ready. */
  restart(program: ControlPlaneProgram): Promise<void>;
  /** Ends everything with SIGKILL and removes its state. */
  stop(): Promise<void>;
}

const folderPrefix = "ephemeral-control-plane-";
const controllers = ["namespace", "serviceaccount", "garbage-collector", "resourcequota"];

/**
 * Starts a control plane of its own on loopback ports that are free, with its state in a temporary folder, and
 * returns when namespaces can be made and deleted. Several can run at once; none needs root. Its programs end with
 * our own process, however that ends. The first start on a machine builds the programs (minutes).
 *
 * Fails when a program ends early or is not ready in time: the error has the end of its log.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { argoCd = true, progress = silentProgress } = options;
  const built = await buildComponent(goComponents.controlplane, progress);
  await clearAbandoned(folderPrefix);
  const folder = await mkdtemp(join(tmpdir(), folderPrefix));
  await markOwned(folder);
  const plane = await describePlane(folder, built);
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

/** Makes Argo CD's kinds Application and AppProject known and waits until they are served. */
export async function applyArgoCdKinds(client: ApiClient, { files }: BuiltComponent): Promise<void> {
  await Promise.all(
    ["application", "appproject"].map((kind) => applyKind(client, join(files, `manifests/crds/${kind}-crd.yaml`))),
  );
}

async function applyKind(client: ApiClient, file: string): Promise<void> {
  const [crd] = parseManifests(await readFile(file, "utf8"));
  if (!crd) throw new Error(`${file} holds no manifest`);
  await client.apply(crd);
  const [plural, ...group] = crd.metadata.name.split(".");
  const served = `/apis/${group.join(".")}/v1alpha1/${plural}?limit=1`;
  const check = async () => (await client.call("GET", served)).status === 200;
  await waitUntil({ what: `the kind ${crd.metadata.name} to be served`, check, deadlineMs: 20_000 });
}

interface Part {
  readonly spec: ProcessSpec;
  readonly ready: () => Promise<boolean>;
}

async function describePlane(folder: string, built: BuiltComponent): Promise<ControlPlane & { client: ApiClient }> {
  const { site, access, kubeconfigPath, parts } = await prepare(folder, built);
  const client = apiClient(access);
  const running = new Map<ControlPlaneProgram, ProcessRecord>();
  const kill = async (name: ControlPlaneProgram) => {
    const record = running.get(name);
    if (record) await stopProcess(folder, record, 0);
    running.delete(name);
  };
  return {
    ...{ client, kubeconfigPath, adminToken: access.token, url: access.url, caFile: access.caFile },
    kubectl: join(site.programs, "kubectl"),
    kill,
    async restart(name) {
      await kill(name);
      const { spec, ready } = parts(client)[name];
      const record = await startProcess(folder, spec);
      running.set(name, record);
      await untilReady(record, ready);
    },
    async stop() {
      client.close();
      // The API server goes first: a live watch would keep it busy, and without it nobody writes to etcd.
      for (const name of ["kube-controller-manager", "kube-apiserver", "etcd"] as const) await kill(name);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function prepare(folder: string, built: BuiltComponent) {
  const [port = 0, etcdPort = 0, etcdPeerPort = 0] = await freePorts(3);
  const pki = join(folder, "pki");
  const ca = await certificateAuthority(pki);
  const serviceAccountKeys = await signingKey(pki, "service-accounts");
  const site: ControlPlaneSite = {
    ...{ programs: built.programs, folder, address: "127.0.0.1", port, etcdPort, etcdPeerPort },
    ...{ caFile: ca.certificate, serviceAccountKeys, diesWithUs: true },
  };
  const token = randomBytes(24).toString("hex");
  const access = { url: `https://127.0.0.1:${port}`, caFile: ca.certificate, token };
  const tokens = join(folder, "tokens.csv");
  await writeFile(tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 });
  const names = { commonName: "kube-apiserver", alternativeNames: ["IP:127.0.0.1", "DNS:localhost"] };
  const serving = await ca.issue("kube-apiserver", names);
  const manager = await ca.issue("kube-controller-manager", { commonName: "system:kube-controller-manager" });
  const kubeconfigPath = await writeKubeconfig(join(folder, "kubeconfig"), { ...access, user: "admin" });
  const { url, caFile } = access;
  const managerConfig = { url, caFile, user: "kube-controller-manager", clientCertificate: manager };
  const managerKubeconfig = await writeKubeconfig(join(folder, "kube-controller-manager.kubeconfig"), managerConfig);
  // No endpoints controller runs, so the API server must not wait for its own Service to get one.
  const flags = ["--token-auth-file", tokens, "--endpoint-reconciler-type", "none"];
  const managerFlags = ["--controllers", controllers.map((name) => `${name}-controller`).join(",")];
  const parts = (client: ApiClient): Record<ControlPlaneProgram, Part> => ({
    etcd: { spec: etcd(site), ready: () => etcdIsReady(site) },
    "kube-apiserver": { spec: kubeApiServer(site, serving, flags), ready: () => apiServerIsReady(client) },
    "kube-controller-manager": {
      spec: kubeControllerManager(site, managerKubeconfig, managerFlags),
      ready: () => controllersAreReady(client),
    },
  });
  return { site, access, kubeconfigPath, parts };
}

/** Whether etcd answers that it is healthy. */
export async function etcdIsReady({ etcdPort }: Pick<ControlPlaneSite, "etcdPort">): Promise<boolean> {
  return (await fetch(`http://127.0.0.1:${etcdPort}/health`, { signal: AbortSignal.timeout(2000) })).ok;
}

/** Whether the API server has finished its start. */
export async function apiServerIsReady(client: ApiClient): Promise<boolean> {
  return (await client.call("GET", "/readyz")).status === 200;
}

/** Whether the controllers work: they have given the namespace `default` its ServiceAccount. */
export async function controllersAreReady(client: ApiClient): Promise<boolean> {
  return (await client.call("GET", "/api/v1/namespaces/default/serviceaccounts/default")).status === 200;
}
