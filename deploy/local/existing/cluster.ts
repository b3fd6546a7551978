import type { Settings } from "../../../config/settings.ts";
import type { Manifest } from "../kubernetes/api-client.ts";
import { type ClusterUser, kubectl } from "../kubernetes/kubectl.ts";
import type { Context } from "./context.ts";
import { missingRights } from "./rights.ts";

/** The chart's `kubeVersion` (a test compares them), checked before rendering. */
const OLDEST_MINOR = 33;
const argoCdKinds = ["applications.argoproj.io", "appprojects.argoproj.io"];
const argoCdAccount = "argocd-application-controller";
const argoCdGuide = "https://argo-cd.readthedocs.io/en/stable/getting_started/";
const ADMISSION = "admissionregistration.k8s.io/v1";
/** Kinds whose objects show that environments' hosts are served. */
const classes = [
  { group: "networking.k8s.io", plural: "ingressclasses" },
  { group: "gateway.networking.k8s.io", plural: "gatewayclasses" },
] as const;
const POLICIES = "validatingadmissionpolicies";

/** The API server's answer at /version. */
export interface KubernetesVersion {
  readonly major: string;
  readonly minor: string;
  /** Version, for example `v1.33.1-gke.1107000`. */
  readonly gitVersion: string;
}

/** The context, settings and manifests of an installation, and the cluster's version. */
export interface Installation {
  readonly context: Context;
  readonly version: KubernetesVersion;
  readonly settings: Pick<Settings, "namespace" | "deployer">;
  readonly manifests: readonly Manifest[];
}

/** The cluster's answer at /version. Fails when there is none. */
export async function versionOf(user: ClusterUser, { cluster }: Context): Promise<KubernetesVersion> {
  const get = kubectl(user, ["get", "--raw", "/version", "--request-timeout=10s"]);
  const answer = await get.catch((cause: Error) => {
    throw new Error(`The cluster ${cluster.server} does not answer: ${cause.message}`, { cause });
  });
  return JSON.parse(answer) as KubernetesVersion;
}

/** Fails with every missing prerequisite of the cluster, each as one sentence that says what to do. Writes nothing. */
export async function assertUsable(user: ClusterUser, installation: Installation): Promise<void> {
  const { context, version, settings, manifests } = installation;
  const tooOld = whyTooOld(version);
  const found = await Promise.all([
    problemsOf("the policies' API", policyProblems(user)),
    problemsOf("the rights of your user", missingRights(user, manifests, settings)),
    problemsOf("Argo CD", deployerProblems(user, settings.deployer.namespace)),
    problemsOf("the ingress", whyNoIngress(user)),
  ]);
  const problems = [...(tooOld === undefined ? [] : [tooOld]), ...found.flat()];
  if (problems.length === 0) return;
  const lines = problems.map((problem) => `\n  - ${problem}`).join("");
  throw new Error(`The platform can't be installed into ${context.cluster.server} yet; nothing was changed.${lines}`);
}

/** Everything that the deployer lacks, given the names of the existing objects. */
export function whyNoDeployer(found: string, namespace: string): string[] {
  const names = found.split("\n").map((line) => line.slice(line.indexOf("/") + 1));
  const kinds = argoCdKinds.filter((kind) => !names.includes(kind));
  const problems =
    kinds.length === 0 ? [] : [`The cluster has no ${kinds.join(", ")}: install Argo CD (${argoCdGuide}).`];
  if (!names.includes(namespace)) {
    problems.push(
      `The cluster has no namespace ${namespace}: the setting deployer.namespace must name the one of Argo CD.`,
    );
  } else if (!names.includes(argoCdAccount)) {
    problems.push(
      `The namespace ${namespace} has no ServiceAccount ${argoCdAccount}, by which the platform's policies know Argo CD: ` +
        "where it has another name, install deploy/charts/platform with helm and set deployer.serviceAccount.",
    );
  }
  return problems;
}

/** The reason why the platform can't work with that API server, in one sentence, given its /version. */
export function whyTooOld({ major, minor }: Pick<KubernetesVersion, "major" | "minor">): string | undefined {
  // Some providers write "31+".
  const isOld = Number(major) < 1 || (major === "1" && Number.parseInt(minor, 10) < OLDEST_MINOR);
  return isOld ? `The cluster is Kubernetes ${major}.${minor}; 1.${OLDEST_MINOR} or newer is needed.` : undefined;
}

async function deployerProblems(user: ClusterUser, namespace: string): Promise<string[]> {
  const account = [`serviceaccount/${argoCdAccount}`, `--namespace=${namespace}`];
  const required = [...argoCdKinds.map((kind) => `crd/${kind}`), `namespace/${namespace}`, ...account];
  return whyNoDeployer(await kubectl(user, ["get", ...required, "--output=name", "--ignore-not-found"]), namespace);
}

/**
 * The reason why the platform's policies would not hold, given the resources served in their group: a setting of the API
 * server can turn them off.
 */
export function whyNoPolicies(served: readonly string[]): string[] {
  if (served.includes(POLICIES)) return [];
  return [
    `The API server does not serve ${POLICIES} (${ADMISSION}), which bind the platform and its users: turn them on (--runtime-config).`,
  ];
}

async function policyProblems(user: ClusterUser): Promise<string[]> {
  const { resources } = await read<{ readonly resources: readonly { readonly name: string }[] }>(
    user,
    `/apis/${ADMISSION}`,
  );
  return whyNoPolicies(resources.map(({ name }) => name));
}

async function whyNoIngress(user: ClusterUser): Promise<string[]> {
  const { groups } = await read<{ readonly groups: readonly { readonly name: string }[] }>(user, "/apis");
  const served = classes.filter(({ group }) => groups.some(({ name }) => name === group));
  const lists = served.map(({ group, plural }) => `/apis/${group}/v1/${plural}`);
  const found = await Promise.all(lists.map((path) => read<{ readonly items: readonly unknown[] }>(user, path)));
  if (found.some(({ items }) => items.length > 0)) return [];
  return [
    "The cluster has no IngressClass and no GatewayClass: install an ingress controller, or one of the Gateway API, that answers *.<baseDomain>.",
  ];
}

async function read<T>(user: ClusterUser, path: string): Promise<T> {
  return JSON.parse(await kubectl(user, ["get", "--raw", path])) as T;
}

/** A failed check is a problem as well, and hides no other problem. */
function problemsOf(what: string, problems: Promise<readonly string[]>): Promise<readonly string[]> {
  return problems.catch((error: Error) => [`It can't be checked whether ${what} will do: ${error.message}`]);
}
