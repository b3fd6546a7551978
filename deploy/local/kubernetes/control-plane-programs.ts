import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import type { ProcessSpec } from "../processes/process.ts";
import type { ApiClient } from "./api-client.ts";
import type { KeyPair } from "./pki.ts";

/** Folders and addresses of one control plane's programs. */
export interface ControlPlaneSite {
  readonly programs: string;
  readonly folder: string;
  /** The API server's address and port; pods reach the bridge's address, too. */
  readonly address: string;
  readonly port: number;
  /** The folder of etcd's sockets. Only its owner may enter it, because etcd authenticates no client. */
  readonly etcdFolder: string;
  /** True: etcd answers in JSON, too. */
  readonly etcdGateway: boolean;
  readonly caFile: string;
  readonly serviceAccountKeys: { readonly privateKey: string; readonly publicKey: string };
  /** True: the programs end with our own process. */
  readonly diesWithUs: boolean;
}

/**
 * etcd on Unix sockets in its existing folder. Without fsync: a crash of the machine loses the cluster, which is disposable.
 */
export function etcd(site: ControlPlaneSite): ProcessSpec {
  // etcd requires addresses for other members, which do not exist: nothing listens there.
  const advertised = { client: "http://127.0.0.1:2379", peer: "http://127.0.0.1:2380" };
  const args = [
    `--data-dir=${join(site.folder, "etcd")}`,
    "--unsafe-no-fsync",
    "--log-level=warn",
    `--listen-client-urls=unix://${clientSocketName}`,
    `--advertise-client-urls=${advertised.client}`,
    "--listen-peer-urls=unix://peer.sock",
    `--initial-advertise-peer-urls=${advertised.peer}`,
    `--initial-cluster=default=${advertised.peer}`,
    `--enable-grpc-gateway=${site.etcdGateway}`,
  ];
  return { ...program(site, "etcd", args), cwd: site.etcdFolder };
}

const clientSocketName = "client.sock";

/** The socket of etcd: gRPC, HTTP for its health and, with the gateway, everything else. */
export function etcdSocket({ etcdFolder }: Pick<ControlPlaneSite, "etcdFolder">): string {
  return join(etcdFolder, clientSocketName);
}

/** The API server with Node and RBAC authorization; `more` are the flags that differ between clusters. */
export function kubeApiServer(site: ControlPlaneSite, serving: KeyPair, more: readonly string[]): ProcessSpec {
  return program(site, "kube-apiserver", [
    `--etcd-servers=unix://${etcdSocket(site)}`,
    `--bind-address=${site.address}`,
    `--advertise-address=${site.address}`,
    `--secure-port=${site.port}`,
    `--tls-cert-file=${serving.certificate}`,
    `--tls-private-key-file=${serving.key}`,
    `--client-ca-file=${site.caFile}`,
    `--cert-dir=${join(site.folder, "certs")}`,
    `--service-account-key-file=${site.serviceAccountKeys.publicKey}`,
    `--service-account-signing-key-file=${site.serviceAccountKeys.privateKey}`,
    "--service-account-issuer=https://kubernetes.default.svc",
    "--authorization-mode=Node,RBAC",
    "--service-cluster-ip-range=10.96.0.0/16",
    ...more,
  ]);
}

/** The controllers named in `more`; each uses its own ServiceAccount, as in a production cluster. */
export function kubeControllerManager(
  site: ControlPlaneSite,
  kubeconfig: string,
  more: readonly string[],
): ProcessSpec {
  return program(site, "kube-controller-manager", [
    `--kubeconfig=${kubeconfig}`,
    "--use-service-account-credentials",
    "--leader-elect=false",
    `--service-account-private-key-file=${site.serviceAccountKeys.privateKey}`,
    `--root-ca-file=${site.caFile}`,
    // No health port, which would be one more listener: created objects show that it works.
    "--secure-port=0",
    "--kube-api-qps=200",
    "--kube-api-burst=400",
    "--concurrent-namespace-syncs=20",
    ...more,
  ]);
}

/** True when etcd reports to be healthy. */
export async function etcdIsReady(site: Pick<ControlPlaneSite, "etcdFolder">): Promise<boolean> {
  const question = request({ socketPath: etcdSocket(site), path: "/health", signal: AbortSignal.timeout(2000) }).end();
  const [answer] = (await once(question, "response")) as [IncomingMessage];
  answer.resume();
  return answer.statusCode === 200;
}

/** True when the API server has finished its start. */
export async function apiServerIsReady(client: ApiClient): Promise<boolean> {
  return (await client.call("GET", "/readyz")).status === 200;
}

/**
 * Parts of a start that begin a second after the server answers: they write Kubernetes' own roles and priority classes,
 * which an administrator does without.
 */
const LATE_HOOKS = ["rbac/bootstrap-roles", "scheduling/bootstrap-system-priority-classes"];

/** True when the API server has finished its start but for what administrators do without. */
export async function servesAdministrators(client: ApiClient): Promise<boolean> {
  const excluded = new URLSearchParams(LATE_HOOKS.map((hook) => ["exclude", `poststarthook/${hook}`]));
  return (await client.call("GET", `/readyz?${excluded}`)).status === 200;
}

/** Path of the object that the controllers make in every namespace. */
export const DEFAULT_SERVICE_ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/default";

/** True when the controllers work: the namespace `default` has its ServiceAccount. */
export async function controllersAreReady(client: ApiClient): Promise<boolean> {
  return (await client.call("GET", DEFAULT_SERVICE_ACCOUNT)).status === 200;
}

function program(site: ControlPlaneSite, name: string, args: readonly string[]): ProcessSpec {
  return { name, command: join(site.programs, name), args, diesWithUs: site.diesWithUs };
}
