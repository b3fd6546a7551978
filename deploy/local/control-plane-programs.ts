import { join } from "node:path";
import type { ApiClient } from "./api-client.ts";
import type { KeyPair } from "./pki.ts";
import type { ProcessSpec } from "./process.ts";

/** Where the programs of one control plane are, keep their state, and listen. */
export interface ControlPlaneSite {
  /** The folder of the built programs. */
  readonly programs: string;
  /** The folder of this control plane's state. */
  readonly folder: string;
  /** The API server's address and port; pods reach it there too when it is the bridge's address. */
  readonly address: string;
  readonly port: number;
  /** Loopback ports of etcd. */
  readonly etcdPort: number;
  readonly etcdPeerPort: number;
  readonly caFile: string;
  readonly serviceAccountKeys: { readonly privateKey: string; readonly publicKey: string };
  /** Its programs end with our own process. */
  readonly diesWithUs: boolean;
}

/** etcd without fsync: a crash of the machine loses the cluster, which is meant to be thrown away anyway. */
export function etcd(site: ControlPlaneSite): ProcessSpec {
  const client = `http://127.0.0.1:${site.etcdPort}`;
  const peer = `http://127.0.0.1:${site.etcdPeerPort}`;
  return program(site, "etcd", [
    ...["--data-dir", join(site.folder, "etcd"), "--unsafe-no-fsync", "--log-level", "warn"],
    ...["--listen-client-urls", client, "--advertise-client-urls", client],
    ...["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", `default=${peer}`],
  ]);
}

/** The API server with Node and RBAC authorization; `more` are the flags in which the kinds of cluster differ. */
export function kubeApiServer(site: ControlPlaneSite, serving: KeyPair, more: readonly string[]): ProcessSpec {
  return program(site, "kube-apiserver", [
    ...["--etcd-servers", `http://127.0.0.1:${site.etcdPort}`],
    ...["--bind-address", site.address, "--advertise-address", site.address, "--secure-port", String(site.port)],
    ...["--tls-cert-file", serving.certificate, "--tls-private-key-file", serving.key],
    ...["--client-ca-file", site.caFile, "--cert-dir", join(site.folder, "certs")],
    ...["--service-account-key-file", site.serviceAccountKeys.publicKey],
    ...["--service-account-signing-key-file", site.serviceAccountKeys.privateKey],
    ...["--service-account-issuer", "https://kubernetes.default.svc"],
    ...["--authorization-mode", "Node,RBAC", "--service-cluster-ip-range", "10.96.0.0/16"],
    ...more,
  ]);
}

/** The controllers named in `more`; each works under a ServiceAccount of its own, as in a production cluster. */
export function kubeControllerManager(
  site: ControlPlaneSite,
  kubeconfig: string,
  more: readonly string[],
): ProcessSpec {
  return program(site, "kube-controller-manager", [
    ...["--kubeconfig", kubeconfig, "--use-service-account-credentials", "--leader-elect=false"],
    ...["--service-account-private-key-file", site.serviceAccountKeys.privateKey, "--root-ca-file", site.caFile],
    // Its health port would be one more listener; whether it works shows in the objects it makes.
    ...["--secure-port", "0", "--kube-api-qps", "200", "--kube-api-burst", "400"],
    ...["--concurrent-namespace-syncs", "20"],
    ...more,
  ]);
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

function program(site: ControlPlaneSite, name: string, args: readonly string[]): ProcessSpec {
  return { name, command: join(site.programs, name), args, diesWithUs: site.diesWithUs };
}
