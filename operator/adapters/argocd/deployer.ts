import { GROUP } from "../../../crds/group.ts";
import { COMPONENTS, type Component, namespaceName } from "../../../crds/names.ts";
import type { ChartSource } from "../../../crds/repository/repository.ts";
import { isForbidden, isNotFound, isUnavailable, type KubeError } from "../../kit/client/errors.ts";
import { translated } from "../../kit/client/translated.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { Cluster, DesiredObject } from "../../ports/cluster.ts";
import {
  type Deployer,
  DeployerUnavailable,
  type DeploymentProblem,
  type WantedApplication,
} from "../../ports/deployer.ts";
import { type KeptApplicationStatus, observed } from "./application-status.ts";
import { applicationKind, appProjectKind } from "./kinds.ts";

/** Has Argo CD delete what an application made before the application itself goes. */
const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io";
/** Holds `<branch>@<commit>`: a branch may contain an `@`, a commit can't. */
const sourceAnnotation = (component: Component) => `${GROUP}/${component}-source`;

/**
 * What a chart may make: nothing that grants rights, opens the network, raises limits or holds secrets. The platform's
 * chart lets the operator write this list and no other (templates/_deployer.tpl), in this order.
 */
export const ADMITTED_KINDS = [
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
].map(([group = "", kind = ""]) => ({ group, kind }));

export interface ArgocdSettings {
  /** Where Argo CD keeps its Applications. */
  readonly namespace: string;
  /** How Argo CD names the cluster. */
  readonly clusterServer: string;
}

/** The Deployer port on Argo CD's resources: one Application and one AppProject an environment. */
export function argocdDeployer(cluster: Cluster, settings: ArgocdSettings, clock: Clock): Deployer {
  const ref = (environment: { name: string }) => ({
    name: namespaceName(environment.name),
    namespace: settings.namespace,
  });
  return {
    async ensureProject(environment, chart) {
      await written(() => cluster.ensure(environment, appProjectKind, projectObject(environment, chart, settings)));
    },

    async ensure(wanted) {
      const application = applicationObject(wanted, settings);
      const outcome = await written(() => cluster.ensure(wanted.environment, applicationKind, application));
      return outcome === "repaired" ? "changed" : outcome;
    },

    observe(wanted) {
      const found = cluster.observe(wanted.environment, applicationKind, ref(wanted.environment));
      return found && observed((found.status ?? {}) as Partial<KeptApplicationStatus>, sourceOf(wanted));
    },

    async retry(wanted, brokenSince) {
      const found = cluster.observe(wanted.environment, applicationKind, ref(wanted.environment));
      const inMs = dueInMs(found?.metadata.annotations?.[ASKED_AT], brokenSince, clock.now());
      if (found === undefined || inMs > 0) return inMs;
      const { problem } = observed((found.status ?? {}) as Partial<KeptApplicationStatus>, sourceOf(wanted));
      const asking = askingObject(applicationObject(wanted, settings), problem, clock.now());
      await written(() => cluster.ensure(wanted.environment, applicationKind, asking));
      return dueInMs(asking.metadata.annotations?.[ASKED_AT], brokenSince, clock.now());
    },

    deployedSources(environment) {
      const annotations = cluster.observe(environment, applicationKind, ref(environment))?.metadata.annotations ?? {};
      const sources = COMPONENTS.flatMap((component) => {
        const [, branch, commit] = /^(.*)@(.*)$/s.exec(annotations[sourceAnnotation(component)] ?? "") ?? [];
        return branch && commit ? [[component, { branch, commit }]] : [];
      });
      return Object.fromEntries(sources);
    },

    remove: (environment) => written(() => cluster.remove(environment, applicationKind, ref(environment))),
    removeProject: (environment) => written(() => cluster.remove(environment, appProjectKind, ref(environment))),
  };
}

/** How Argo CD's history calls us. */
const OPERATOR = "ephemeral-environments";
/** When the application was last asked to try again: what keeps the pauses, whoever asks. */
const ASKED_AT = `${GROUP}/asked-again-at`;
const FIRST_PAUSE_MS = 15_000;
const LONGEST_PAUSE_MS = 600_000;

/**
 * The next try comes after as long a time as the failure was old at the last one. A moment in the future, which a clock
 * wrote that has been set back since, is none to count a pause from.
 */
function dueInMs(askedAt: string | undefined, brokenSince: Date, now: Date): number {
  const moments = [brokenSince, new Date(askedAt ?? "")].map((moment) => moment.getTime());
  const past = moments.filter((moment) => moment <= now.getTime());
  if (past.length === 0) return 0;
  const last = Math.max(...past);
  const ageMs = elapsedMs(brokenSince, new Date(last));
  const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(FIRST_PAUSE_MS, ageMs));
  return Math.max(0, last + pauseMs - now.getTime());
}

/**
 * The application with a wish that Argo CD fulfils and takes out again. Where manifests are missing: a hard refresh,
 * because it would answer with the failed rendering of that commit for an hour. Else: a sync, and without a revision,
 * so that the newest of the branch is taken. https://argo-cd.readthedocs.io/en/stable/user-guide/sync-kubectl/
 */
function askingObject(application: DesiredObject, problem: DeploymentProblem | undefined, now: Date): DesiredObject {
  const { metadata, spec } = application;
  const isUnrendered = problem === "ChartInvalid" || problem === "DeployerUnavailable";
  const refresh = isUnrendered ? { "argocd.argoproj.io/refresh": "hard" } : {};
  const annotations = { ...metadata.annotations, [ASKED_AT]: now.toISOString(), ...refresh };
  const { syncOptions, retry } = (spec as { syncPolicy: { syncOptions: string[]; retry: object } }).syncPolicy;
  const sync = { initiatedBy: { username: OPERATOR, automated: true }, sync: { prune: true, syncOptions }, retry };
  return { ...application, metadata: { ...metadata, annotations }, ...(isUnrendered ? {} : { operation: sync }) };
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

/** Compared with what Argo CD says it compared: it has to be made in one place. */
function sourceOf({ chart, values }: Pick<WantedApplication, "chart" | "values">): object {
  return {
    repoURL: chart.repoUrl,
    path: chart.path,
    targetRevision: chart.revision,
    helm: { releaseName: "environment", valuesObject: values },
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
      source: sourceOf({ chart, values }),
      destination: { server: settings.clusterServer, namespace: name },
      syncPolicy: {
        automated: { enabled: true, prune: true, selfHeal: true },
        // The namespace is the operator's: Argo CD would make one without our labels, and never delete it.
        syncOptions: ["CreateNamespace=false"],
        // What passes by itself does so within these 14 s; a longer row would hold a corrected version up.
        retry: { limit: 3, backoff: { duration: "2s", factor: 2, maxDuration: "1m" } },
      },
      revisionHistoryLimit: 1,
    },
  };
}

const written = <T>(call: () => Promise<T>) => translated(call, toUnavailable);

function toUnavailable(error: unknown): DeployerUnavailable | undefined {
  const obstacle = obstacleOf(error);
  if (obstacle === undefined) return undefined;
  const message = `Argo CD's objects can't be written: ${obstacle} (${(error as KubeError).message})`;
  return new DeployerUnavailable(message, { cause: error });
}

function obstacleOf(error: unknown): string | undefined {
  if (isNotFound(error))
    return "its kinds or its namespace are not there, so install it, or correct deployer.namespace";
  if (isForbidden(error)) return "the platform lacks the right, or a policy refuses it: see the platform's chart";
  return isUnavailable(error) ? "the API server does not take it now" : undefined;
}
