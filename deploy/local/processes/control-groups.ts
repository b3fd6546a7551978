import { mkdir, readdir, readFile, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { onCode } from "../../build/error-codes.ts";
import { currentMounts, type Mount } from "./mounts.ts";

/** The parent control group of our pods; other groups on the machine are not ours. */
export const controlGroup = "/ephemeral-environments";

const absent = ["ENOENT", "ENODEV"];

/** Makes our control group in every hierarchy (one on version 2, one per controller on version 1). */
export async function makeControlGroup(): Promise<void> {
  for (const root of await hierarchies()) await mkdir(join(root, controlGroup), { recursive: true });
}

/** Removes our control group with its children; its processes must have ended. */
export async function removeControlGroup(): Promise<void> {
  for (const root of await hierarchies()) await removeTree(join(root, controlGroup));
}

/** Pids of every process in our pods. */
export async function podProcesses(): Promise<number[]> {
  const pids = new Set<number>();
  for (const root of await hierarchies()) await collect(join(root, controlGroup), pids);
  return [...pids];
}

/** The mount points of control group hierarchies. */
export function hierarchiesAmong(mounts: readonly Mount[]): string[] {
  return mounts.flatMap(({ point, type }) => (type === "cgroup" || type === "cgroup2" ? [point] : []));
}

async function hierarchies(): Promise<string[]> {
  return hierarchiesAmong(await currentMounts());
}

async function collect(group: string, pids: Set<number>): Promise<void> {
  const members = await readFile(join(group, "cgroup.procs"), "utf8").catch(onCode(absent, ""));
  for (const pid of members.split("\n").filter(Boolean)) pids.add(Number(pid));
  for (const child of await childGroups(group)) await collect(child, pids);
}

/** A control group's files can't be removed separately; only its children go first. */
async function removeTree(group: string): Promise<void> {
  for (const child of await childGroups(group)) await removeTree(child);
  await rmdir(group).catch(onCode(absent, undefined));
}

async function childGroups(group: string): Promise<string[]> {
  const entries = await readdir(group, { withFileTypes: true }).catch(onCode(absent, []));
  return entries.filter((entry) => entry.isDirectory()).map((entry) => join(group, entry.name));
}
