import { type Progress, planned } from "../build/progress.ts";
import { assertCapacity } from "./capacity.ts";
import { cleanUp } from "./cleanup/cleanup.ts";
import { assertNoOtherKubelet } from "./cleanup/fixed-paths.ts";
import { assertMachineIsFree, claimMachine, withMachine } from "./cleanup/machine.ts";
import type { BuiltComponent, ClusterComponent, UnbuiltComponent } from "./components/component.ts";
import { components } from "./components/index.ts";
import { clusterFolder } from "./folders.ts";
import { startGitea } from "./git/gitea.ts";
import type { GiteaApi } from "./git/gitea-api.ts";
import { assertNetworkIsFree } from "./network/conflicts.ts";
import { assertPortsAreFree, clusterPorts } from "./network/ports.ts";
import { assertCanRun } from "./prerequisites.ts";
import { isAlive, recordedProcesses } from "./processes/process.ts";
import { withoutSupervisor } from "./processes/supervisor.ts";
import { buildSite, type ClusterSite, type PreparedSite, prepareSite } from "./site.ts";
import { startInOrder } from "./start-order.ts";

/** Options of a start. */
export interface StartOptions {
  readonly components?: readonly ClusterComponent[];
  /** Builds further needs of the caller, after the machine was checked and before the cluster's programs are built. */
  readonly build?: () => Promise<void>;
}

/**
 * Starts missing parts of the local cluster with the platform, and returns when its node is ready and every program answers.
 * Running parts stay. The programs outlive the caller; `stopCluster` ends them.
 *
 * Needs Linux and root. The machine is checked, and unbuilt components start, before anything is compiled. Fails with the
 * name of the program that did not start and the end of its log.
 */
export async function startCluster(progress: Progress, options: StartOptions = {}): Promise<ClusterSite> {
  await assertCanRun(progress);
  return withMachine(longestBuildMs, () => startOnFreeMachine(progress, options));
}

/** A second start waits for the first one, which may be building everything. */
const longestBuildMs = 60 * 60_000;

async function startOnFreeMachine(progress: Progress, { components: requested = components, build }: StartOptions) {
  await assertMachineIsFree();
  const ranBefore = await isRunning();
  if (!ranBefore) {
    await cleanUp();
    await assertCapacity();
    await assertPortsAreFree(clusterPorts());
    await assertNoOtherKubelet();
    await assertNetworkIsFree();
  }
  await claimMachine();
  const prepared = await prepareSite(progress);
  const steps = planned(progress, requested);
  try {
    const unbuilt = requested.filter(needsNoBuild);
    await withoutSupervisor(clusterFolder, () =>
      startInOrder(unbuilt, (component) => steps.step(component.name, () => component.start(prepared))),
    );
    const site = await built(prepared, build).catch(async (error: unknown) => {
      if (!ranBefore) await cleanUp();
      throw error;
    });
    const ready = unbuilt.map(({ name }) => name);
    await withoutSupervisor(clusterFolder, () =>
      startInOrder(requested.filter(needsBuild), (one) => steps.step(one.name, () => one.start(site)), ready),
    );
    return site;
  } finally {
    prepared.client.close();
  }
}

const needsNoBuild = (component: ClusterComponent): component is UnbuiltComponent => component.needsBuild === false;
const needsBuild = (component: ClusterComponent): component is BuiltComponent => !needsNoBuild(component);

async function built(prepared: PreparedSite, build: StartOptions["build"]): Promise<ClusterSite> {
  await build?.();
  return buildSite(prepared);
}

/**
 * Builds Gitea if it is not in the cache, starts it beside the running local cluster, and does the work with it.
 * `stopCluster` ends it, too.
 */
export async function withGitea<T>(
  progress: Progress,
  work: (gitea: GiteaApi, site: ClusterSite) => Promise<T>,
): Promise<T> {
  const site = await withMachine(longestBuildMs, async () => {
    await assertMachineIsFree();
    if (!(await isRunning())) throw new Error('No local cluster runs here; start it with "make up" first.');
    return buildSite(await prepareSite(progress));
  });
  try {
    const start = () => withoutSupervisor(clusterFolder, () => startGitea(site));
    return await work(await withMachine(longestBuildMs, start), site);
  } finally {
    site.client.close();
  }
}

/** True when any program of the local cluster runs. */
export async function isRunning(): Promise<boolean> {
  return (await recordedProcesses(clusterFolder)).some(isAlive);
}
