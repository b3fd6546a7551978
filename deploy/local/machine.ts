import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isAlive, recordedProcesses } from "./process.ts";
import { startOf } from "./process-start.ts";
import { clusterFolder, runFolder } from "./site.ts";
import { waitUntil } from "./wait.ts";

/** Beside the run folder, not in it: a stop removes that one while it holds the lock. */
const lockFile = `${runFolder}.lock`;
const ownerFile = join(runFolder, "owner");

/**
 * Does the work while no other start or stop of a local cluster is at work on this machine. Waits for another one as
 * long as `deadlineMs`, then fails. A lock whose holder has ended counts for nothing.
 */
export async function withLock<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
  await waitUntil({ what: "the end of another start or stop of the local cluster", check: takeLock, deadlineMs });
  try {
    return await work();
  } finally {
    await rm(lockFile, { force: true });
  }
}

/** Records that the cluster of this checkout has the machine's one bridge, ports and run folder. */
export async function claimMachine(): Promise<void> {
  await mkdir(runFolder, { recursive: true });
  await writeFile(ownerFile, clusterFolder);
}

/** The state folder of the cluster that has the machine, or undefined when none has. */
export async function machineOwner(): Promise<string | undefined> {
  return readFile(ownerFile, "utf8").catch(undefinedIfAbsent);
}

/** Fails, naming the other checkout, when its cluster runs: both would use the same bridge and ports. */
export async function assertMachineIsFree(): Promise<void> {
  const owner = await machineOwner();
  if (owner === undefined || owner === clusterFolder) return;
  if (!(await recordedProcesses(owner)).some(isAlive)) return;
  throw new Error(`The local cluster of ${dirname(dirname(owner))} is running; stop it there with "make down" first.`);
}

async function takeLock(): Promise<boolean> {
  const mine = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) });
  try {
    await writeFile(lockFile, mine, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const holder = await readFile(lockFile, "utf8").catch(undefinedIfAbsent);
  // Empty: it is being written right now.
  if (holder && !isAlive(JSON.parse(holder))) await rm(lockFile, { force: true });
  return false;
}

function undefinedIfAbsent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
