import { join } from "node:path";
import { cleanUp } from "./cleanup/cleanup.ts";
import { assertNoOtherKubelet } from "./cleanup/fixed-paths.ts";
import { assertMachineIsFree, claimMachine, withMachine } from "./cleanup/machine.ts";
import type { Component } from "./components/component.ts";
import { sampleImage } from "./components/images.ts";
import { clusterComponents, platformComponents } from "./components/index.ts";
import { clusterFolder } from "./folders.ts";
import { startGitea } from "./git/gitea.ts";
import type { LocalRepository } from "./git/repositories.ts";
import { clientId } from "./identity/configuration.ts";
import type { ApiAccess } from "./kubernetes/api-client.ts";
import { addresses, baseDomain, localIssuer } from "./network/addresses.ts";
import { assertNetworkIsFree } from "./network/conflicts.ts";
import { assertPortsAreFree, clusterPorts } from "./network/ports.ts";
import { assertCanRun } from "./prerequisites.ts";
import { isAlive, recordedProcesses } from "./processes/process.ts";
import { withoutSupervisor } from "./processes/supervisor.ts";
import { type Progress, planned, showProgress } from "./progress.ts";
import { type ClusterSite, prepareSite } from "./site.ts";
import { startInOrder } from "./start-order.ts";

/** A component of the sample application: where its sources are, and the image that was built from them. */
export interface SampleComponent {
  /** Repository URL that Argo CD and the operator read without credentials. */
  readonly url: string;
  readonly branch: "main";
  /** Head of the branch; also the image's tag. */
  readonly commit: string;
  /** Image without its tag: `docker.io/local/sample-backend`. */
  readonly image: string;
}

/** The running local cluster: all that a program needs to use it. */
export interface LocalCluster {
  /** The cluster's administrator; for setting it up, never for the operator. */
  readonly adminKubeconfig: string;
  /** The same for our own calls. */
  readonly access: ApiAccess;
  /** The PEM file of the authority that signed the ingress's certificate: the setting `ingressCaFile` of the operator. */
  readonly ingressCaFile: string;
  /** Where the ingress accepts HTTPS: the setting `ingressAddress` of the operator (`127.0.0.1:18443`). */
  readonly ingressAddress: string;
  readonly baseDomain: string;
  readonly publicPort: number;
  /** The namespace that Argo CD's Applications and AppProjects live in. */
  readonly deployerNamespace: "argocd";
  /** The default application chart, at the root of its repository. */
  readonly chart: { readonly url: string; readonly commit: string };
  readonly sample: { readonly backend: SampleComponent; readonly frontend: SampleComponent };
  /** The identity provider: the issuer of its tokens and their audience. */
  readonly identity: { readonly issuer: string; readonly clientId: string };
  /** Programs that were built for it. */
  readonly programs: { readonly kubectl: string; readonly helm: string; readonly ctr: string };
  /** The address that pods reach the host by, and the socket that `ctr --address` takes. */
  readonly hostAddress: string;
  /** Folder of its state: logs are in `log/`. */
  readonly folder: string;
}

/**
 * Starts what is missing of the local cluster with the platform on it (or of the given components) and returns when its
 * node is ready and every program answers.
 * What already runs stays as it is. The programs outlive the caller; `stopCluster` ends them.
 *
 * Needs Linux and root. Fails with the name of the program that did not come up and the end of its log.
 */
export async function startCluster(
  progress: Progress = showProgress(),
  components: readonly Component[] = [...clusterComponents, ...platformComponents],
): Promise<LocalCluster> {
  await assertCanRun(progress);
  return withMachine(longestBuildMs, () => startOnFreeMachine(progress, components));
}

/** A second start waits for the first one, which may be building everything. */
const longestBuildMs = 60 * 60_000;

async function startOnFreeMachine(progress: Progress, components: readonly Component[]): Promise<LocalCluster> {
  await assertMachineIsFree();
  if (!(await isRunning())) {
    await cleanUp();
    await assertPortsAreFree(clusterPorts());
    await assertNoOtherKubelet();
    await assertNetworkIsFree();
  }
  await claimMachine();
  const site = await prepareSite(progress);
  const steps = planned(progress, components);
  try {
    await withoutSupervisor(clusterFolder, () =>
      startInOrder(components, (component) => steps.step(component.name, () => component.start(site))),
    );
    return describe(site);
  } finally {
    site.client.close();
  }
}

/**
 * Builds Gitea if it is not in the cache, starts it beside the running local cluster, and answers the file with name and
 * password of its administrator. `stopCluster` ends it too.
 */
export async function addGitea(progress: Progress = showProgress()): Promise<string> {
  return withMachine(longestBuildMs, async () => {
    await assertMachineIsFree();
    if (!(await isRunning())) throw new Error('No local cluster runs here; start it with "make up" first.');
    return withoutSupervisor(clusterFolder, () => startGitea(progress));
  });
}

/** Whether any program of the local cluster runs. */
export async function isRunning(): Promise<boolean> {
  return (await recordedProcesses(clusterFolder)).some(isAlive);
}

function describe({ access, adminKubeconfig, ca, built, repositories }: ClusterSite): LocalCluster {
  const { controlplane, containerd } = built;
  return {
    ...{ adminKubeconfig, access, ingressCaFile: ca.certificate },
    ...{ ingressAddress: `127.0.0.1:${addresses.ingressPort}`, baseDomain, publicPort: addresses.ingressPort },
    deployerNamespace: "argocd",
    chart: { url: repositories.chart.url, commit: repositories.chart.commit },
    sample: { backend: component(repositories.backend), frontend: component(repositories.frontend) },
    identity: { issuer: localIssuer, clientId },
    programs: {
      kubectl: join(controlplane.programs, "kubectl"),
      helm: join(controlplane.programs, "helm"),
      ctr: join(containerd.programs, "ctr"),
    },
    hostAddress: addresses.bridge.address,
    folder: clusterFolder,
  };
}

function component(repository: LocalRepository): SampleComponent {
  const { url, commit } = repository;
  return { url, branch: "main", commit, image: sampleImage(repository).replace(`:${commit}`, "") };
}
