import { cleanUp } from "./cleanup/cleanup.ts";
import { assertNoOtherKubelet } from "./cleanup/fixed-paths.ts";
import { assertMachineIsFree, claimMachine, withMachine } from "./cleanup/machine.ts";
import type { Component } from "./components/component.ts";
import { components } from "./components/index.ts";
import { clusterFolder } from "./folders.ts";
import { startGitea } from "./git/gitea.ts";
import type { GiteaApi } from "./git/gitea-api.ts";
import { assertNetworkIsFree } from "./network/conflicts.ts";
import { assertPortsAreFree, clusterPorts } from "./network/ports.ts";
import { assertCanRun } from "./prerequisites.ts";
import { isAlive, recordedProcesses } from "./processes/process.ts";
import { withoutSupervisor } from "./processes/supervisor.ts";
import { type Progress, planned } from "./progress.ts";
import { type ClusterSite, prepareSite } from "./site.ts";
import { startInOrder } from "./start-order.ts";

/**
 * Starts what is missing of the local cluster with the platform on it, and returns when its node is ready and every
 * program answers. What already runs stays as it is. The programs outlive the caller; `stopCluster` ends them.
 *
 * Needs Linux and root. Fails with the name of the program that did not come up and the end of its log.
 */
export async function startCluster(progress: Progress, wanted = components): Promise<ClusterSite> {
  await assertCanRun(progress);
  return withMachine(longestBuildMs, () => startOnFreeMachine(progress, wanted));
}

/** A second start waits for the first one, which may be building everything. */
const longestBuildMs = 60 * 60_000;

async function startOnFreeMachine(progress: Progress, wanted: readonly Component[]): Promise<ClusterSite> {
  await assertMachineIsFree();
  if (!(await isRunning())) {
    await cleanUp();
    await assertPortsAreFree(clusterPorts());
    await assertNoOtherKubelet();
    await assertNetworkIsFree();
  }
  await claimMachine();
  const site = await prepareSite(progress);
  const steps = planned(progress, wanted);
  try {
    await withoutSupervisor(clusterFolder, () =>
      startInOrder(wanted, (component) => steps.step(component.name, () => component.start(site))),
    );
    return site;
  } finally {
    site.client.close();
  }
}

/**
 * Builds Gitea if it is not in the cache and starts it beside the running local cluster, then does the work with it.
 * `stopCluster` ends it too.
 */
export async function withGitea<T>(
  progress: Progress,
  work: (gitea: GiteaApi, site: ClusterSite) => Promise<T>,
): Promise<T> {
  const site = await withMachine(longestBuildMs, async () => {
    await assertMachineIsFree();
    if (!(await isRunning())) throw new Error('No local cluster runs here; start it with "make up" first.');
    return prepareSite(progress);
  });
  try {
    const start = () => withoutSupervisor(clusterFolder, () => startGitea(site));
    return await work(await withMachine(longestBuildMs, start), site);
  } finally {
    site.client.close();
  }
}

/** Whether any program of the local cluster runs. */
export async function isRunning(): Promise<boolean> {
  return (await recordedProcesses(clusterFolder)).some(isAlive);
}
