import { isDeepStrictEqual } from "node:util";
import { GROUP } from "../../crds/group.ts";
import { COMPONENTS, type Component, namespaceName } from "../../crds/names.ts";
import type { ChartSource } from "../../crds/repository.ts";
import { applicationKind, appProjectKind } from "../kinds.ts";
import { isForbidden, isNotFound, isUnavailable, KubeError } from "../kit/kube-errors.ts";
import type { Cluster, DesiredObject } from "../ports/cluster.ts";
import {
  type Deployer,
  DeployerUnavailable,
  type ObservedApplication,
  type WantedApplication,
} from "../ports/deployer.ts";

/** Has Argo CD delete what an application made before the application itself goes. */
const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io";
/** Holds `<branch>@<commit>`; no branch contains an `@`. */
const sourceAnnotation = (component: Component) => `${GROUP}/${component}-source`;

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
      return (
        found && observed((found.status ?? {}) as Partial<KeptApplicationStatus>, applicationObject(wanted, settings))
      );
    },

    deployedSources(environment) {
      const annotations = cluster.observe(environment, applicationKind, ref(environment))?.metadata.annotations ?? {};
      const sources = COMPONENTS.flatMap((component) => {
        const [branch, commit] = annotations[sourceAnnotation(component)]?.split("@") ?? [];
        return branch && commit ? [[component, { branch, commit }]] : [];
      });
      return Object.fromEntries(sources);
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
  { environment, chart, values, sources }: WantedApplication,
  settings: ArgocdSettings,
): DesiredObject {
  const name = namespaceName(environment.name);
  const annotations = Object.fromEntries(
    COMPONENTS.flatMap((component) => {
      const source = sources[component];
      return source ? [[sourceAnnotation(component), `${source.branch}@${source.commit}`]] : [];
    }),
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

/** The part of an Application's status that is judged; whatever else it holds is not even kept. */
export interface ApplicationStatus {
  readonly sync?: {
    readonly status?: string;
    readonly revision?: string;
    readonly comparedTo?: { readonly source?: unknown };
  };
  readonly health?: { readonly status?: string };
  readonly conditions?: readonly { readonly type: string; readonly message?: string }[];
  readonly operationState?: {
    readonly phase?: string;
    readonly message?: string;
    readonly finishedAt?: string;
    readonly syncResult?: { readonly source?: unknown };
  };
  readonly reconciledAt?: string;
}

/** What a watch keeps of it: moments and retries change all the time and wake nobody, so they become one answer. */
export interface KeptApplicationStatus extends Omit<ApplicationStatus, "operationState" | "reconciledAt"> {
  /** Whether no sync runs, and the application was looked at after the last one. */
  readonly isCalm: boolean;
  /** The last sync, when it failed. */
  readonly failedSync?: { readonly message: string; readonly source: unknown };
}

/** Keeps what is judged: the rest is most of an Application's bytes. `operation` is what was asked for and not begun. */
export function keptStatus(status: ApplicationStatus, operation: unknown): KeptApplicationStatus {
  const { sync, health, conditions = [], operationState, reconciledAt = "" } = status;
  const { phase = "Succeeded", message = "", finishedAt = "", syncResult } = operationState ?? {};
  const hasFailed = phase === "Failed" || phase === "Error";
  return {
    sync: { ...sync, comparedTo: { source: sync?.comparedTo?.source } },
    health: { ...(health?.status === undefined ? {} : { status: health.status }) },
    conditions: conditions.map(({ type, message: text }) => ({
      type,
      ...(text === undefined ? {} : { message: text }),
    })),
    isCalm: operation === undefined && phase !== "Running" && phase !== "Terminating" && reconciledAt >= finishedAt,
    ...(hasFailed ? { failedSync: { message, source: syncResult?.source } } : {}),
  };
}

function observed(status: Partial<KeptApplicationStatus>, wanted: DesiredObject): ObservedApplication {
  const revision = status.sync?.revision ?? "";
  const { source } = wanted.spec as { source: unknown };
  const problem = status.conditions?.find(({ type }) => type.endsWith("Error"));
  const words = problem && `${problem.type}: ${problem.message ?? ""}`;
  // Everything else that is said may still be about the values before.
  if (!isDeepStrictEqual(status.sync?.comparedTo?.source, source)) {
    return { state: "waiting", revision, message: words ?? "waiting for Argo CD to compare the application" };
  }
  if (words !== undefined) return { state: "broken", revision, message: words };
  if (status.sync?.status !== "Synced") return unsynced(status, revision, source);
  if (!status.isCalm) return { state: "waiting", revision, message: "Argo CD is syncing the application" };
  return judgedHealth(status, revision);
}

function unsynced(
  { failedSync }: Partial<KeptApplicationStatus>,
  revision: string,
  source: unknown,
): ObservedApplication {
  const isAboutThis = failedSync !== undefined && isDeepStrictEqual(failedSync.source, source);
  if (isAboutThis) return { state: "broken", revision, message: `the sync failed: ${failedSync.message}` };
  return { state: "waiting", revision, message: "Argo CD is syncing the application" };
}

function judgedHealth({ health }: Partial<KeptApplicationStatus>, revision: string): ObservedApplication {
  const said = health?.status ?? "Unknown";
  if (said === "Healthy") return { state: "healthy", revision, message: "" };
  if (said === "Degraded")
    return { state: "broken", revision, message: "Argo CD calls the application degraded: see its pods" };
  return {
    state: "progressing",
    revision,
    message: `Argo CD calls the application ${said.toLowerCase()}: pods are starting`,
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
