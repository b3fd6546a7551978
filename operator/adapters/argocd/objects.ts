import { GROUP } from "../../../crds/group.ts";
import { COMPONENTS, type Component, namespaceName } from "../../../crds/names.ts";
import { type ChartSource, isPackaged, OCI_SCHEME } from "../../../crds/repository/chart-source.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { DesiredObject, FieldPatch, ObservedObject } from "../../ports/cluster.ts";
import type { DeploymentProblem, DesiredApplication } from "../../ports/deployer.ts";

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

/** Marks a project whose environment has a login at its chart's place, in a Secret that can't be looked for; empty: it had one. */
export const LOGIN = `${GROUP}/chart-login`;

/** The name of Argo CD's label for a kind of Secret that it reads. */
const SECRET_TYPE = "argocd.argoproj.io/secret-type";

export interface ArgocdSettings {
  readonly namespace: string;
  /** Argo CD's name of the cluster. */
  readonly clusterServer: string;
}

/** Our name in Argo CD's history. */
const OPERATOR = "ephemeral-environments";
/** Argo CD's annotation that requests a rendering. */
const REFRESH = "argocd.argoproj.io/refresh";
/** Annotation with the time of the last retry: on the application, so that any process counts the same pauses. */
export const RETRIED_AT = `${GROUP}/retried-at`;
/**
 * The application with a request that Argo CD fulfils and removes. For missing manifests a hard refresh, because Argo
 * CD caches the failed rendering of a commit for an hour; else a sync without a revision, which takes the branch's
 * newest commit. https://argo-cd.readthedocs.io/en/stable/user-guide/sync-kubectl/
 */
export function retriedObject(
  application: DesiredObject,
  problem: DeploymentProblem | undefined,
  now: Date,
): DesiredObject {
  const { metadata, spec } = application;
  const isUnrendered = problem === "ChartInvalid" || problem === "DeployerUnavailable";
  const refresh = isUnrendered ? { [REFRESH]: "hard" } : {};
  const annotations = { ...metadata.annotations, [RETRIED_AT]: now.toISOString(), ...refresh };
  const { syncOptions, retry } = (spec as { syncPolicy: { syncOptions: string[]; retry: object } }).syncPolicy;
  const sync = { initiatedBy: { username: OPERATOR, automated: true }, sync: { prune: true, syncOptions }, retry };
  return { ...application, metadata: { ...metadata, annotations }, ...(isUnrendered ? {} : { operation: sync }) };
}

/** The application, rendered anew: Argo CD would answer with the failure of before, which the lack of a login may have caused. */
export function rerenderedObject(application: DesiredObject): DesiredObject {
  const annotations = { ...application.metadata.annotations, [REFRESH]: "hard" };
  return { ...application, metadata: { ...application.metadata, annotations } };
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

/** The project that confines an application to one namespace, one chart and the admitted kinds, marked with its login. */
export function projectObject(
  environment: DesiredApplication["environment"],
  chart: ChartSource,
  { namespace, clusterServer, login }: ArgocdSettings & { readonly login?: string | undefined },
): DesiredObject {
  const name = namespaceName(environment.name);
  const annotations = login === undefined ? {} : { annotations: { [LOGIN]: login } };
  return {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "AppProject",
    metadata: { name, namespace, ...annotations },
    spec: {
      description: `Environment ${environment.name}: its one namespace, its one chart`,
      sourceRepos: [placeOf(chart).repoURL],
      destinations: [{ server: clusterServer, namespace: name }],
      namespaceResourceWhitelist: ADMITTED_KINDS,
    },
  };
}

/** A login at a chart's place. */
export interface Login {
  readonly chart: ChartSource;
  /** The credential's name, as `name@key`. */
  readonly source: string;
  /** Credential as `user:password`. */
  readonly credential: Sensitive;
}

/**
 * The login at a chart's place, as Argo CD takes it for the applications of one project. Of the fields that such a Secret can
 * have, the policy `platform-chart-logins` lets the platform write these. It goes with its project, whatever wrote it when.
 * https://argo-cd.readthedocs.io/en/stable/user-guide/projects/#project-scoped-repositories-and-clusters
 */
export function loginObject({ chart, credential }: Omit<Login, "source">, project: ObservedObject): DesiredObject {
  const { name, namespace, uid } = project.metadata;
  const [, username = "", password = ""] = /^([^:]*):(.*)$/s.exec(credential.reveal()) ?? [];
  const fields = { type: kindOf(chart), url: placeOf(chart).repoURL, project: name, username, password };
  const data = Object.entries(fields).map(([field, value]) => [field, Buffer.from(value).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { [SECRET_TYPE]: "repository" },
      ownerReferences: [{ apiVersion: "argoproj.io/v1alpha1", kind: "AppProject", name, uid }],
    },
    type: "Opaque",
    data: Object.fromEntries(data),
  };
}

/** The place of a chart that a login is for, with its kind. */
export const loginPlace = (chart: ChartSource) => `${kindOf(chart)} ${placeOf(chart).repoURL}`;

/** Argo CD's word for the kind of a chart's place. */
function kindOf(source: ChartSource): "git" | "helm" | "oci" {
  if (!isPackaged(source)) return "git";
  return source.repoUrl.startsWith(OCI_SCHEME) ? "oci" : "helm";
}

/** The source of an application: compared with the source that Argo CD says it compared. */
export function sourceOf({ chart, values }: Pick<DesiredApplication, "chart" | "values">): object {
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
  { environment, chart, values, sources, leavesReplicas }: DesiredApplication,
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
