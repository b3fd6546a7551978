import type { Settings } from "../../../config/settings.ts";
import type { ClusterEntry } from "../kubeconfig.ts";
import { type ClusterUser, kubectl } from "../kubectl.ts";

/** ValidatingAdmissionPolicies are served as version v1 since then. */
const OLDEST_MINOR = 30;
const argoCdKinds = ["applications.argoproj.io", "appprojects.argoproj.io"];
const argoCdGuide = "https://argo-cd.readthedocs.io/en/stable/getting_started/";

/**
 * The cluster of that user's kubeconfig, after looking whether the platform can be installed there; writes nothing.
 *
 * Fails with one sentence when it can't be reached, is too old, has no Argo CD, or the user is no administrator.
 */
export async function assertUsable(user: ClusterUser, { deployer }: Pick<Settings, "deployer">): Promise<ClusterEntry> {
  const cluster = await describeCluster(user);
  await assertReachable(user, cluster);
  await assertAdministrator(user, cluster);
  const wanted = [...argoCdKinds.map((kind) => `crd/${kind}`), `namespace/${deployer.namespace}`];
  const found = await kubectl(user, ["get", ...wanted, "--output=name", "--ignore-not-found"]);
  const obstacle = whyNoDeployer(found, deployer.namespace);
  if (obstacle) throw new Error(obstacle);
  return cluster;
}

/** What is missing of the deployer, in one sentence, given the names of the objects that were found of it. */
export function whyNoDeployer(found: string, namespace: string): string | undefined {
  const names = found.split("\n").map((line) => line.slice(line.indexOf("/") + 1));
  const kinds = argoCdKinds.filter((kind) => !names.includes(kind));
  if (kinds.length > 0) return `The cluster has no ${kinds.join(", ")}: install Argo CD (${argoCdGuide}).`;
  if (names.includes(namespace)) return undefined;
  return `The cluster has no namespace ${namespace}: the setting deployer.namespace must name the one of Argo CD.`;
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

async function assertReachable(user: ClusterUser, { server }: ClusterEntry): Promise<void> {
  const get = kubectl(user, ["get", "--raw", "/version", "--request-timeout=10s"]);
  const obstacle = whyTooOld(JSON.parse(await saying(`The cluster ${server} does not answer`, get)));
  if (obstacle) throw new Error(obstacle);
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
