import { existsSync } from "node:fs";
import { readdir, readFile, readlink, rm } from "node:fs/promises";
import { join } from "node:path";
import { onCode } from "../../build/error-codes.ts";
import { run } from "../../build/run.ts";
import { waitUntil } from "../../build/wait.ts";
import { clusterFolder, existingFolder, kindFolder, runFolder } from "../folders.ts";
import { removeNetwork } from "../network/network.ts";
import { podProcesses, removeControlGroup } from "../processes/control-groups.ts";
import { currentMounts, type Mount } from "../processes/mounts.ts";
import { isAlive, recordedProcesses, sendSignal } from "../processes/process.ts";
import { startOf } from "../processes/process-start.ts";
import { stopAll } from "../processes/supervisor.ts";
import { removeFilesElsewhere } from "./fixed-paths.ts";
import { assertMachineIsFree, machineOwner, withMachine } from "./machine.ts";

/**
 * Removes everything that a local cluster leaves on the machine, after a stop, a kill or a failed start: programs,
 * containers with their shims, mounts, links, rules, control groups, sockets, state. Empty folders at paths fixed by its
 * programs stay.
 *
 * Programs are identified by their recorded ids and by our folders and control group, never by name, so no other cluster or
 * container runtime is touched. A failing step does not stop the others; the state is then kept, so that the cleanup can be
 * repeated.
 */
export async function cleanUp(): Promise<void> {
  const failures: unknown[] = [];
  for (const step of [endPrograms, endContainers, unmount, closeNetwork, removeControlGroup, removeFilesElsewhere]) {
    await step().catch((error: unknown) => failures.push(error));
  }
  if (failures.length > 0) throw new AggregateError(failures, failures.map((error) => String(error)).join("\n"));
  await rm(clusterFolder, { recursive: true, force: true });
  await rm(runFolder, { recursive: true, force: true });
}

/** No grace period: the programs' data is removed anyway. */
const endPrograms = () => stopAll(clusterFolder, 0);

/** Closes our network; without our run folder there is none, and the machine may lack nft and ip. */
async function closeNetwork(): Promise<void> {
  if (existsSync(runFolder)) await removeNetwork();
}

/** Mount points below one of the folders, innermost first. */
export function mountsBelow(mounts: readonly Mount[], folders: readonly string[]): string[] {
  const points = mounts.map(({ point }) => point);
  return points.filter((point) => folders.some((folder) => point.startsWith(`${folder}/`))).reverse();
}

/** Shims outlive containerd by design; each has a socket elsewhere that only this cleanup removes. */
async function endContainers(): Promise<void> {
  const sockets = await shimSockets();
  const pids = [...(await podProcesses()), ...(await strays())];
  for (const pid of pids) sendSignal(pid, "SIGKILL");
  const check = () => pids.every((pid) => startOf(pid) === undefined);
  await waitUntil({ what: "the end of the containers", check, deadlineMs: 20_000 });
  await Promise.all(sockets.map((socket) => rm(socket, { force: true })));
}

/**
 * Shims, whose arguments name our containerd's socket, and programs whose start was killed before they were recorded: they
 * write to one of our logs.
 */
async function strays(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const areOurs = await Promise.all(pids.map(isStray));
  return pids.filter((_pid, index) => areOurs[index]);
}

async function isStray(pid: number): Promise<boolean> {
  // The process may have ended meanwhile, or even root may not read its files.
  const unread = onCode(["ENOENT", "ESRCH", "EACCES", "EPERM"], "");
  const commandLine = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(unread);
  const output = await readlink(`/proc/${pid}/fd/1`).catch(unread);
  return commandLine.split("\0").includes(join(runFolder, "containerd.sock")) || output.startsWith(ourLogs);
}

const ourLogs = join(clusterFolder, "log/");

async function shimSockets(): Promise<string[]> {
  const tasks = join(runFolder, "containerd/io.containerd.runtime.v2.task/k8s.io");
  if (!existsSync(tasks)) return [];
  const files = (await readdir(tasks)).map((task) => join(tasks, task, "bootstrap.json")).filter(existsSync);
  const contents = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return contents.map((content) => (JSON.parse(content).address as string).replace(/^unix:\/\//, ""));
}

/** Fails when a mount remains: removing its folder would remove the mounted files. */
async function unmount(): Promise<void> {
  const folders = [runFolder, clusterFolder, (await machineOwner()) ?? clusterFolder];
  const mounted = async () => mountsBelow(await currentMounts(), folders);
  // Lazily: an open file of ours must not block the cleanup.
  for (const mount of await mounted()) await run("umount", ["--lazy", mount]);
  const [left] = await mounted();
  if (left) throw new Error(`${left} can't be unmounted; unmount it, then try again`);
}

/**
 * Stops the local cluster and removes all of it from the machine; does nothing when there is none. A cluster of
 * another checkout is left alone, and named by a failure.
 */
export async function stopCluster(): Promise<void> {
  if (process.platform !== "linux") return;
  await withMachine(60_000, async () => {
    await assertMachineIsFree();
    await cleanUp();
  });
}

/** The programs of the local cluster, then those for an existing one and beside one of kind, as they were started, and whether each runs. */
export async function programStatus(): Promise<{ name: string; pid: number; running: boolean; logFile: string }[]> {
  const records = await Promise.all([clusterFolder, existingFolder, kindFolder].map(recordedProcesses));
  return records.flat().map((record) => ({ ...record, running: isAlive(record) }));
}
