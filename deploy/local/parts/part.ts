import { type ProcessSpec, runningProcess, startProcess, untilReady } from "../process.ts";
import type { ClusterSite } from "../site.ts";
import type { Wait } from "../wait.ts";

/** One thing that the local cluster consists of. */
export interface Part {
  readonly name: string;
  /** The parts that must be ready before this one is started. Parts without order start at the same time. */
  readonly after: readonly string[];
  /** Starts what is missing of it, leaves what runs alone, and returns when it is ready. */
  start(site: ClusterSite): Promise<void>;
}

/** Makes sure that a program with its state in that folder runs and is ready; a running one is not started again. */
export async function keepRunning(
  { folder }: Pick<ClusterSite, "folder">,
  spec: ProcessSpec,
  ready: Wait["check"],
): Promise<void> {
  const running = await runningProcess(folder, spec.name);
  await untilReady(running ?? (await startProcess(folder, spec)), ready);
}
