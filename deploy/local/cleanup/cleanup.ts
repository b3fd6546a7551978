import { existsSync, readFileSync, readlinkSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { clusterFolder, runFolder } from "../folders.ts";
import { removeNetwork } from "../network/network.ts";
import { podProcesses, removeControlGroup } from "../processes/control-groups.ts";
import { recordedProcesses, stopProcess } from "../processes/process.ts";
import { startOf } from "../processes/process-start.ts";
import { run } from "../processes/run.ts";
import { stopSupervisor } from "../processes/supervisor.ts";
import { waitUntil } from "../processes/wait.ts";
import { removeFilesElsewhere } from "./fixed-paths.ts";
import { machineOwner } from "./machine.ts";

/**
 * Removes everything that a local cluster leaves on the machine, whether it was stopped, killed, or broke while it
 * started: programs, containers with their shims, mounts, links, rules, control groups, sockets, state. Empty folders
 * that its programs make at fixed paths stay.
 *
 * Programs are known by their recorded ids and by our folders and control group, never by their name, so nothing
 * of another cluster or container runtime is touched. A step that fails does not keep the others from their work; the
 * state is kept then, so that it can be called again.
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

/** Latest first: no program is left without those it needs, and the container runtime starts nothing again. */
async function endPrograms(): Promise<void> {
  await stopSupervisor(clusterFolder);
  const records = await recordedProcesses(clusterFolder);
  for (const record of records.reverse()) await stopProcess(clusterFolder, record, 0);
}

/** Without our folder nothing of ours can be there, and a machine without nft or ip is left in peace. */
async function closeNetwork(): Promise<void> {
  if (existsSync(runFolder)) await removeNetwork();
}

/** The mount points below one of the folders, innermost first, in a text like /proc/self/mounts. */
export function mountsBelow(mounts: string, folders: readonly string[]): string[] {
  const points = mounts.split("\n").map((line) => withoutEscapes(line.split(" ")[1] ?? ""));
  return points.filter((point) => folders.some((folder) => point.startsWith(`${folder}/`))).reverse();
}

/** Shims outlive containerd on purpose; each has a socket elsewhere that no other program removes. */
async function endContainers(): Promise<void> {
  const sockets = await shimSockets();
  const pids = [...(await podProcesses()), ...(await strays())];
  for (const pid of pids) kill(pid);
  const check = () => pids.every((pid) => startOf(pid) === undefined);
  await waitUntil({ what: "the end of the containers", check, deadlineMs: 20_000 });
  await Promise.all(sockets.map((socket) => rm(socket, { force: true })));
}

/**
 * The shims, whose arguments name our containerd's socket, and programs that were started but not yet recorded when
 * the start was killed: they write to a log of ours.
 */
async function strays(): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  return pids.filter((pid) => namesOurSocket(pid) || writesToOurLog(pid));
}

function namesOurSocket(pid: number): boolean {
  const commandLine = ofLiving(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"));
  return commandLine.split("\0").includes(join(runFolder, "containerd.sock"));
}

function writesToOurLog(pid: number): boolean {
  return ofLiving(() => readlinkSync(`/proc/${pid}/fd/1`)).startsWith(join(clusterFolder, "log/"));
}

/** Reads a file of a process; empty when it has ended meanwhile, or when even root may not read it. */
function ofLiving(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return "";
    throw error;
  }
}

/** The shims' sockets, as containerd wrote them down for each container. */
async function shimSockets(): Promise<string[]> {
  const tasks = join(runFolder, "containerd/io.containerd.runtime.v2.task/k8s.io");
  if (!existsSync(tasks)) return [];
  const files = (await readdir(tasks)).map((task) => join(tasks, task, "bootstrap.json")).filter(existsSync);
  const addresses = files.map((file) => JSON.parse(readFileSync(file, "utf8")).address as string);
  return addresses.map((address) => address.replace(/^unix:\/\//, ""));
}

/** Fails when something stays mounted: removing the folder would then remove what is mounted there. */
async function unmount(): Promise<void> {
  const folders = [runFolder, clusterFolder, (await machineOwner()) ?? clusterFolder];
  const mounted = async () => mountsBelow(await readFile("/proc/self/mounts", "utf8"), folders);
  // Lazily: a file that something of ours still has open must not keep the rest of the machine waiting.
  for (const mount of await mounted()) await run("umount", ["--lazy", mount]);
  const [left] = await mounted();
  if (left) throw new Error(`${left} can't be unmounted; unmount it, then try again`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** /proc/self/mounts writes blanks as octal escapes (proc_pid_mounts(5)). */
function withoutEscapes(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
