import { clusterFolder, existingFolder, kindFolder } from "../folders.ts";
import { isAlive, recordedProcesses } from "../processes/process.ts";
import { cleanUp } from "./cleanup.ts";
import { assertMachineIsFree, withMachine } from "./machine.ts";

/**
 * Stops the local cluster and removes all of it from the machine; does nothing without one. Fails when the cluster belongs
 * to another checkout, and leaves it alone.
 */
export async function stopCluster(): Promise<void> {
  if (process.platform !== "linux") return;
  await withMachine(60_000, async () => {
    await assertMachineIsFree();
    await cleanUp();
  });
}

/** The programs of the local, the existing and the kind cluster, in the order of their start, and whether each runs. */
export async function programStatus(): Promise<{ name: string; pid: number; running: boolean; logFile: string }[]> {
  const records = await Promise.all([clusterFolder, existingFolder, kindFolder].map(recordedProcesses));
  return records.flat().map((record) => ({ ...record, running: isAlive(record) }));
}
