import { isDeepStrictEqual } from "node:util";
import { GROUP } from "../../crds/group.ts";
import { namespaceName } from "../../crds/names.ts";
import type { ChartSource } from "../../crds/repository.ts";
import { applicationKind, appProjectKind } from "../kinds.ts";
import { isForbidden, isNotFound, isUnavailable, KubeError } from "../kit/kube-errors.ts";
import type { Cluster, DesiredObject, ObservedObject } from "../ports/cluster.ts";
import {
  type Deployer,
  DeployerUnavailable,
  type ObservedApplication,
  type WantedApplication,
} from "../ports/deployer.ts";

/** Has Argo CD delete what an application made before the application itself goes. */
const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io";
const COMMIT_ANNOTATION = (component: string) => `${GROUP}/${component}-commit`;

/** What a chart may make: nothing that grants rights, opens the network, raises limits or holds secrets. */
const ADMITTED_KINDS = [
  ["apps", "Deployment"],
  ["apps", "StatefulSet"],
  ["batch", "Job"],
  ["batch", "CronJob"],
  ["", "Service"],
  ["networking.k8s.io", "Ingress"],
  ["gateway.networking.k8s.io", "HTTPRoute"],
  ["", "ConfigMap"],
  ["", "PersistentVolumeClaim"],
  ["", "ServiceAccount"],
  ["autoscaling", "HorizontalPodAutoscaler"],
  ["policy", "PodDisruptionBudget"],
].map(([group, kind]) => ({ group, kind }));

export interface ArgocdSettings {
  /** Where Argo CD keeps its Applications. */
  readonly namespace: string;
  /** How Argo CD names the cluster. */
  readonly clusterServer: string;
}

/** The Deployer port on Argo CD's resources: one Application and one AppProject an environment. */
export function argocdDeployer(cluster: Cluster, settings: ArgocdSettings): Deployer {
  const ref = (environment: { name: string }) => ({
    name: namespaceName(environment.name),
    namespace: settings.namespace,
  });
  return {
    async confine(environment, chart) {
      await translated(() => cluster.ensure(environment, appProjectKind, projectObject(environment, chart, settings)));
    },

    async ensure(wanted) {
      const application = applicationObject(wanted, settings);
      const outcome = await translated(() => cluster.ensure(wanted.environment, applicationKind, application));
      return outcome === "repaired" ? "changed" : outcome;
    },

    observe(wanted) {
      const found = cluster.observe(wanted.environment, applicationKind, ref(wanted.environment));
      return found && observed(found as ApplicationView, applicationObject(wanted, settings));
    },

    deployedCommits(environment) {
      const annotations = cluster.observe(environment, applicationKind, ref(environment))?.metadata.annotations ?? {};
      const commits = ["backend", "frontend"].map((component) => [
        component,
        annotations[COMMIT_ANNOTATION(component)],
      ]);
      return Object.fromEntries(commits.filter(([, commit]) => commit !== undefined));
    },

    async remove(environment) {
      const application = await translated(() => cluster.remove(environment, applicationKind, ref(environment)));
      if (application.state === "removing") return application;
      return translated(() => cluster.remove(environment, appProjectKind, ref(environment)));
    },
  };
}

function projectObject(
  environment: WantedApplication["environment"],
  chart: ChartSource,
  settings: ArgocdSettings,
): DesiredObject {
  const name = namespaceName(environment.name);
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "AppProject",
    metadata: { name, namespace: settings.namespace },
    spec: {
      description: `Environment ${environment.name}: its one namespace, its one chart`,
      sourceRepos: [chart.repoUrl],
      destinations: [{ server: settings.clusterServer, namespace: name }],
      namespaceResourceWhitelist: ADMITTED_KINDS,
    },
  };
}

function applicationObject(
  { environment, chart, values, commits }: WantedApplication,
  settings: ArgocdSettings,
): DesiredObject {
  const name = namespaceName(environment.name);
  const annotations = Object.fromEntries(
    Object.entries(commits).map(([component, commit]) => [COMMIT_ANNOTATION(component), commit]),
  );
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace: settings.namespace, finalizers: [CASCADE_FINALIZER], annotations },
    spec: {
      project: name,
      source: {
        repoURL: chart.repoUrl,
        path: chart.path,
        targetRevision: chart.revision,
        helm: { releaseName: "environment", valuesObject: values },
      },
      destination: { server: settings.clusterServer, namespace: name },
      syncPolicy: {
        automated: { enabled: true, prune: true, selfHeal: true },
        // The namespace is the operator's: Argo CD would make one without our labels, and never delete it.
        syncOptions: ["CreateNamespace=false"],
        retry: { limit: 5, backoff: { duration: "2s", factor: 2, maxDuration: "1m" } },
      },
      revisionHistoryLimit: 1,
    },
  };
}

/** The part of an Application's status that is read. */
interface ApplicationView extends ObservedObject {
  readonly status?: {
    readonly sync?: {
      readonly status?: string;
      readonly revision?: string;
      readonly comparedTo?: { readonly source?: unknown };
    };
    readonly health?: { readonly status?: string };
    readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
    readonly operationState?: { readonly phase?: string; readonly message?: string };
  };
}

function observed({ status = {} }: ApplicationView, wanted: DesiredObject): ObservedApplication {
  const revision = status.sync?.revision ?? "";
  const spec = wanted.spec as { source: unknown };
  const problem = status.conditions?.find(({ type }) => type.endsWith("Error"));
  if (problem !== undefined) return { state: "broken", revision, message: `${problem.type}: ${problem.message ?? ""}` };
  const compared = isDeepStrictEqual(status.sync?.comparedTo?.source, spec.source);
  if (!compared) return { state: "waiting", revision, message: "waiting for Argo CD to compare the application" };
  if (status.sync?.status !== "Synced") return unsynced(status, revision);
  return judgedHealth(status, revision);
}

function unsynced(status: NonNullable<ApplicationView["status"]>, revision: string): ObservedApplication {
  const { phase, message = "" } = status.operationState ?? {};
  if (phase === "Failed" || phase === "Error")
    return { state: "broken", revision, message: `the sync failed: ${message}` };
  return { state: "waiting", revision, message: message || "Argo CD is syncing the application" };
}

function judgedHealth(status: NonNullable<ApplicationView["status"]>, revision: string): ObservedApplication {
  const health = status.health?.status ?? "Unknown";
  if (health === "Healthy") return { state: "healthy", revision, message: "" };
  if (health === "Degraded")
    return { state: "broken", revision, message: "Argo CD calls the application degraded: see its pods" };
  return {
    state: "progressing",
    revision,
    message: `Argo CD calls the application ${health.toLowerCase()}: pods are starting`,
  };
}

async function translated<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof KubeError && (isUnavailable(error) || isForbidden(error) || isNotFound(error))) {
      throw new DeployerUnavailable(`Argo CD's resources can't be written: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
