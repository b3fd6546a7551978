import { clearLeftovers } from "./leftovers.ts";
import { isAlive, recordedProcesses } from "./process.ts";
import { clusterFolder } from "./site.ts";

/** Stops the local cluster and removes all of it from the machine; does nothing when there is none. */
export async function stopCluster(): Promise<void> {
  await clearLeftovers();
}

/** The programs of the local cluster, in the order they were started, and whether each runs. */
export async function clusterStatus(): Promise<{ name: string; pid: number; running: boolean; logFile: string }[]> {
  const records = await recordedProcesses(clusterFolder);
  return records.map((record) => ({ ...record, running: isAlive(record) }));
}
