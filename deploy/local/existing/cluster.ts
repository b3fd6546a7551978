import type { Settings } from "../../../config/settings.ts";
import type { ClusterEntry } from "../kubernetes/kubeconfig.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";

/** The chart's `kubeVersion` (a test compares the two), checked before anything is rendered. */
const OLDEST_MINOR = 33;
const argoCdKinds = ["applications.argoproj.io", "appprojects.argoproj.io"];
/** The chart's default name of the ServiceAccount of Argo CD's application controller. */
const argoCdAccount = "argocd-application-controller";
const argoCdGuide = "https://argo-cd.readthedocs.io/en/stable/getting_started/";

/** A cluster that the platform can be installed in. */
export interface UsableCluster {
  /** How it is reached. */
  readonly cluster: ClusterEntry;
  /** The `gitVersion` of its /version, as in `v1.33.1-gke.1107000`. */
  readonly kubeVersion: string;
}

/**
 * The cluster of that user's kubeconfig, after looking whether the platform can be installed there; writes nothing.
 *
 * Fails with one sentence when it can't be reached, is too old, has no Argo CD, or the user is no administrator.
 */
export async function assertUsable(
  user: ClusterUser,
  { deployer }: Pick<Settings, "deployer">,
): Promise<UsableCluster> {
  const cluster = await describeCluster(user);
  const kubeVersion = await versionOf(user, cluster);
  await assertAdministrator(user, cluster);
  const account = [`serviceaccount/${argoCdAccount}`, `--namespace=${deployer.namespace}`];
  const wanted = [...argoCdKinds.map((kind) => `crd/${kind}`), `namespace/${deployer.namespace}`, ...account];
  const found = await kubectl(user, ["get", ...wanted, "--output=name", "--ignore-not-found"]);
  const obstacle = whyNoDeployer(found, deployer.namespace);
  if (obstacle) throw new Error(obstacle);
  return { cluster, kubeVersion };
}

/** The missing object of the deployer, in one sentence, given the names of the objects that were found. */
export function whyNoDeployer(found: string, namespace: string): string | undefined {
  const names = found.split("\n").map((line) => line.slice(line.indexOf("/") + 1));
  const kinds = argoCdKinds.filter((kind) => !names.includes(kind));
  if (kinds.length > 0) return `The cluster has no ${kinds.join(", ")}: install Argo CD (${argoCdGuide}).`;
  if (!names.includes(namespace)) {
    return `The cluster has no namespace ${namespace}: the setting deployer.namespace must name the one of Argo CD.`;
  }
  if (names.includes(argoCdAccount)) return undefined;
  return (
    `The namespace ${namespace} has no ServiceAccount ${argoCdAccount}, by which the platform's policies know Argo CD: ` +
    "where it has another name, install deploy/charts/platform with helm and set deployer.serviceAccount."
  );
}

/** Why the platform can't work with that API server, in one sentence, given what it says at /version. */
export function whyTooOld({ major, minor }: { readonly major: string; readonly minor: string }): string | undefined {
  // Some providers write "31+".
  const isOld = Number(major) < 1 || (major === "1" && Number.parseInt(minor, 10) < OLDEST_MINOR);
  return isOld ? `The cluster is Kubernetes ${major}.${minor}; 1.${OLDEST_MINOR} or newer is needed.` : undefined;
}

/** Only the cluster is taken from the kubeconfig: the operator has an identity of its own. */
async function describeCluster(user: ClusterUser): Promise<ClusterEntry> {
  const view = ["config", "view", "--raw", "--minify", "--flatten", "--output=json"];
  const config = JSON.parse(await saying(`KUBECONFIG=${user.kubeconfig} names no cluster`, kubectl(user, view)));
  const { cluster } = (config as { clusters: [{ cluster: ClusterEntry }] }).clusters[0];
  if (!cluster["proxy-url"]) return cluster;
  throw new Error(`${cluster.server} is reached through a proxy (proxy-url), which the operator can't do.`);
}

/** Fails when the cluster does not answer, or is too old. */
async function versionOf(user: ClusterUser, { server }: ClusterEntry): Promise<string> {
  const get = kubectl(user, ["get", "--raw", "/version", "--request-timeout=10s"]);
  const version = JSON.parse(await saying(`The cluster ${server} does not answer`, get)) as {
    readonly major: string;
    readonly minor: string;
    readonly gitVersion: string;
  };
  const obstacle = whyTooOld(version);
  if (obstacle) throw new Error(obstacle);
  return version.gitVersion;
}

async function assertAdministrator(user: ClusterUser, { server }: ClusterEntry): Promise<void> {
  const question = kubectl(user, ["auth", "can-i", "*", "*", "--all-namespaces"]);
  await saying(`The user of KUBECONFIG is no administrator of ${server}`, question);
}

async function saying<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new Error(`${what}: ${(cause as Error).message}`, { cause });
  }
}
