import { uidLabel } from "./environment-objects.ts";

/** The collections of Argo CD's objects, as paths of the API. */
export const argoCd = {
  applications: "/apis/argoproj.io/v1alpha1/namespaces/argocd/applications",
  projects: "/apis/argoproj.io/v1alpha1/namespaces/argocd/appprojects",
};
export const SERVER = "https://kubernetes.default.svc";
const UID = "11111111-2222-4333-8444-555555555555";

/** What the chart of an environment may make: decided once, and the same in the operator and the platform's chart. */
const KINDS = [
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

export const SOURCE = { repoURL: "http://127.0.0.1/chart.git", path: ".", targetRevision: "main" };
export const SYNC_POLICY = {
  automated: { enabled: true, prune: true, selfHeal: true },
  syncOptions: ["CreateNamespace=false"],
};

/** What is said differently of an object. */
export interface ArgoChange {
  readonly spec?: object;
  readonly metadata?: object;
  /** Beside the spec: `status`, `operation`. */
  readonly beside?: object;
}

/** An application as the platform makes it for the environment of that namespace. */
export function argoApplication(name: string, change: ArgoChange = {}): object {
  const destination = { server: SERVER, namespace: name };
  const spec = { project: name, source: SOURCE, destination, syncPolicy: SYNC_POLICY, revisionHistoryLimit: 1 };
  return { ...argoObject(name, spec, change), kind: "Application" };
}

/** Its project. */
export function argoProject(name: string, change: ArgoChange = {}): object {
  const destinations = [{ server: SERVER, namespace: name }];
  const spec = { sourceRepos: [SOURCE.repoURL], destinations, namespaceResourceWhitelist: KINDS };
  return { ...argoObject(name, spec, change), kind: "AppProject" };
}

function argoObject(name: string, wanted: object, { spec, metadata, beside }: ArgoChange): object {
  return {
    apiVersion: "argoproj.io/v1alpha1",
    metadata: { name, labels: { [uidLabel]: UID }, ...metadata },
    spec: { ...wanted, ...spec },
    ...beside,
  };
}
