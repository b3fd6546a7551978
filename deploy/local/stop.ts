import { clearLeftovers } from "./leftovers.ts";
import { assertMachineIsFree, withLock } from "./machine.ts";
import { isAlive, recordedProcesses } from "./process.ts";
import { clusterFolder } from "./site.ts";

/**
 * Stops the local cluster and removes all of it from the machine; does nothing when there is none. A cluster of
 * another checkout is left alone, and told about by a failure.
 */
export async function stopCluster(): Promise<void> {
  if (process.platform !== "linux") return;
  await withLock(60_000, async () => {
    await assertMachineIsFree();
    await clearLeftovers();
  });
}

/** The programs of the local cluster, in the order they were started, and whether each runs. */
export async function clusterStatus(): Promise<{ name: string; pid: number; running: boolean; logFile: string }[]> {
  const records = await recordedProcesses(clusterFolder);
  return records.map((record) => ({ ...record, running: isAlive(record) }));
}
