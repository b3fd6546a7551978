import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onCode } from "../../build/error-codes.ts";
import { withLock } from "../../build/lock.ts";
import { clusterFolder, runFolder } from "../folders.ts";
import { isAlive, recordedProcesses } from "../processes/process.ts";

const ownerFile = join(runFolder, "owner");

/**
 * Does the work while no other start or stop of a local cluster runs on this machine. Waits at most `deadlineMs`, then
 * fails.
 */
export function withMachine<T>(deadlineMs: number, work: () => Promise<T>): Promise<T> {
  const what = "the end of another start or stop of the local cluster";
  return withLock({ name: "ephemeral-environments", what, deadlineMs }, work);
}

/** Records that this checkout's cluster uses the machine's only bridge, ports and run folder. */
export async function claimMachine(): Promise<void> {
  await mkdir(runFolder, { recursive: true });
  await writeFile(ownerFile, clusterFolder);
}

/** The state folder of the cluster that uses the machine, or undefined. */
export function machineOwner(): Promise<string | undefined> {
  return readFile(ownerFile, "utf8").catch(onCode(["ENOENT"], undefined));
}

/** True when both paths lead to one folder: a checkout may be mounted twice. Missing folders differ. */
export async function isSameFolder(one: string, other: string): Promise<boolean> {
  if (one === other) return true;
  const [a, b] = await Promise.all([one, other].map((path) => stat(path).catch(onCode(["ENOENT"], undefined))));
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino;
}

/** Fails, naming the other checkout, when its cluster runs: both use the same bridge and ports. */
export async function assertMachineIsFree(): Promise<void> {
  const owner = await machineOwner();
  if (owner === undefined || (await isSameFolder(owner, clusterFolder))) return;
  if (!(await recordedProcesses(owner)).some(isAlive)) return;
  throw new Error(`The local cluster of ${dirname(dirname(owner))} is running; stop it there with "make down" first.`);
}
