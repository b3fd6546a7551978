import { GROUP } from "../../../crds/group.ts";
import { COMPONENTS, type Component, namespaceName } from "../../../crds/names.ts";
import { type ChartSource, isPackaged, OCI_SCHEME } from "../../../crds/repository/chart-source.ts";
import type { DesiredObject, FieldPatch } from "../../ports/cluster.ts";
import type { DeploymentProblem, WantedApplication } from "../../ports/deployer.ts";

/** Makes Argo CD delete the application's objects before the application. */
const CASCADE_FINALIZER = "resources-finalizer.argocd.argoproj.io";
/** Annotation with `<branch>@<commit>`: a branch may contain an `@`, a commit can't. */
export const sourceAnnotation = (component: Component) => `${GROUP}/${component}-source`;

/**
 * Kinds that a chart may make: none that grants rights, opens the network, raises limits or holds secrets. The
 * platform's chart pins this list and order (templates/_deployer.tpl).
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

/**
 * Leaves the autoscaler's fields alone, and only those: the chart's number would be restored again and again. Its
 * controller writes `scale` under this name, like all writes of kube-controller-manager.
 * https://argo-cd.readthedocs.io/en/stable/user-guide/diffing/#application-level-configuration
 * https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management
 */
const AUTOSCALED = ["Deployment", "StatefulSet"].map((kind) => ({
  group: "apps",
  kind,
  managedFieldsManagers: ["kube-controller-manager"],
}));

export interface ArgocdSettings {
  readonly namespace: string;
  /** Argo CD's name of the cluster. */
  readonly clusterServer: string;
}

/** Our name in Argo CD's history. */
const OPERATOR = "ephemeral-environments";
/** Time of the last retry request: stored on the application, so that every process counts the same pauses. */
export const ASKED_AT = `${GROUP}/asked-again-at`;
/**
 * The application with a request that Argo CD fulfils and removes. For missing manifests a hard refresh, because Argo
 * CD caches the failed rendering of a commit for an hour; else a sync without a revision, which takes the branch's
 * newest commit. https://argo-cd.readthedocs.io/en/stable/user-guide/sync-kubectl/
 */
export function askingObject(
  application: DesiredObject,
  problem: DeploymentProblem | undefined,
  now: Date,
): DesiredObject {
  const { metadata, spec } = application;
  const isUnrendered = problem === "ChartInvalid" || problem === "DeployerUnavailable";
  const refresh = isUnrendered ? { "argocd.argoproj.io/refresh": "hard" } : {};
  const annotations = { ...metadata.annotations, [ASKED_AT]: now.toISOString(), ...refresh };
  const { syncOptions, retry } = (spec as { syncPolicy: { syncOptions: string[]; retry: object } }).syncPolicy;
  const sync = { initiatedBy: { username: OPERATOR, automated: true }, sync: { prune: true, syncOptions }, retry };
  return { ...application, metadata: { ...metadata, annotations }, ...(isUnrendered ? {} : { operation: sync }) };
}

/**
 * Ends the sync that began then, and no later one, as `argocd app terminate-op` does. The policy
 * `platform-applications` lets the platform write nothing else of a status.
 * https://argo-cd.readthedocs.io/en/stable/user-guide/commands/argocd_app_terminate-op/
 */
export function endingPatch(startedAt: string): readonly FieldPatch[] {
  const place = "/status/operationState";
  return [
    { op: "test", path: `${place}/startedAt`, value: startedAt },
    { op: "test", path: `${place}/phase`, value: "Running" },
    { op: "replace", path: `${place}/phase`, value: "Terminating" },
  ];
}

/** Project that confines an environment's application: its namespace, its chart, and the allowed kinds. */
export function projectObject(
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
      sourceRepos: [placeOf(chart).repoURL],
      destinations: [{ server: settings.clusterServer, namespace: name }],
      namespaceResourceWhitelist: ADMITTED_KINDS,
    },
  };
}

/** Source of an application, in the form in which Argo CD reports what it compared. */
export function sourceOf({ chart, values }: Pick<WantedApplication, "chart" | "values">): object {
  return { ...placeOf(chart), helm: { releaseName: "environment", valuesObject: values } };
}

/**
 * Location of a chart for Argo CD. A registry's chart is a source by its whole URL: a public registry then needs no
 * Secret, and the project admits this chart alone. https://argo-cd.readthedocs.io/en/stable/user-guide/oci/,
 * https://argo-cd.readthedocs.io/en/stable/user-guide/helm/
 */
function placeOf(source: ChartSource): { readonly repoURL: string; readonly [field: string]: string } {
  if (!isPackaged(source)) return { repoURL: source.repoUrl, path: source.path, targetRevision: source.revision };
  const { repoUrl, chart, version } = source;
  if (!repoUrl.startsWith(OCI_SCHEME)) return { repoURL: repoUrl, chart, targetRevision: version };
  // Tags have no plus; Helm pushes an underscore instead: https://helm.sh/docs/topics/registries/.
  return { repoURL: `${repoUrl}/${chart}`, path: ".", targetRevision: version.replace("+", "_") };
}

/** Application of an environment, without a request. */
export function applicationObject(
  { environment, chart, values, sources, leavesReplicas }: WantedApplication,
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
        syncOptions: [
          // The operator creates the namespace: Argo CD's would lack our labels and never be deleted.
          "CreateNamespace=false",
          // Otherwise a sync for another reason would write ignored differences.
          ...(leavesReplicas ? ["RespectIgnoreDifferences=true"] : []),
        ],
        // Temporary failures pass within these 14 s; more retries would delay a corrected version.
        retry: { limit: 3, backoff: { duration: "2s", factor: 2, maxDuration: "1m" } },
      },
      revisionHistoryLimit: 1,
      ...(leavesReplicas ? { ignoreDifferences: AUTOSCALED } : {}),
    },
  };
}
