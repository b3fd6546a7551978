import { chartUrl } from "./chart-repository.ts";
import { apply, kubectl, read } from "./kubectl.ts";
import { names } from "./site.ts";
import { waitUntil } from "./wait.ts";

/** The branch's folder that the Application applies. */
export const MANIFESTS = "manifests";

const SYNC_DEADLINE_MS = 60_000;
const namespace = names.deployerNamespace;

/** Argo CD's view of an Application; its health is that of its objects, one in each test. */
export interface Shown {
  readonly sync?: { readonly status: string; readonly revision?: string };
  readonly health?: { readonly status: string };
}

/** Creates an Application, in its own project, that syncs the branch's environments. */
export async function keepAsInGit(name: string, branch: string): Promise<void> {
  const sourceRepo = await chartUrl();
  const environments = { group: "ephemeral-environments.dev", kind: "EphemeralEnvironment" };
  const server = "https://kubernetes.default.svc";
  await apply({
    apiVersion: "argoproj.io/v1alpha1",
    kind: "AppProject",
    metadata: { name, namespace },
    spec: {
      sourceRepos: [sourceRepo],
      destinations: [{ server, namespace: "*" }],
      clusterResourceWhitelist: [environments],
    },
  });
  await apply({
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Application",
    metadata: { name, namespace },
    spec: {
      project: name,
      source: { repoURL: sourceRepo, targetRevision: branch, path: MANIFESTS },
      destination: { server, namespace: "default" },
      syncPolicy: {
        automated: { prune: true, selfHeal: true, allowEmpty: true },
        syncOptions: ["RespectIgnoreDifferences=true"],
      },
      ignoreDifferences: [{ ...environments, managedFieldsManagers: ["ephemeral-environments"] }],
    },
  });
}

/** Deletes the Application and its project; the applied objects stay. */
export async function forgetApplication(name: string): Promise<void> {
  await kubectl("delete", "application", name, `--namespace=${namespace}`, "--ignore-not-found");
  await kubectl("delete", "appproject", name, `--namespace=${namespace}`, "--ignore-not-found");
}

/** Makes Argo CD read the branch now, instead of every three minutes. */
export async function refresh(name: string): Promise<void> {
  const refreshing = "argocd.argoproj.io/refresh=normal";
  await kubectl("annotate", "application", name, `--namespace=${namespace}`, "--overwrite", refreshing);
}

/** Waits until Argo CD shows the Application with this sync status and this health; fails with the last ones. */
export async function untilShown(name: string, sync: string, health: string): Promise<void> {
  let last: Shown | undefined;
  const check = async () => {
    last = (await read<{ status?: Shown }>("application", name, `--namespace=${namespace}`)).status;
    return last?.sync?.status === sync && last.health?.status === health;
  };
  const what = () => `Argo CD showing ${sync} and ${health} (it says ${JSON.stringify(last)})`;
  await waitUntil({ what, check, deadlineMs: SYNC_DEADLINE_MS, pollMs: 500 });
}
