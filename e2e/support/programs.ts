import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { ofProcess, parentOf } from "./proc.ts";
import { stateFolder } from "./site.ts";

const RUN_FOLDER = "/run/ephemeral-environments/";

/** The name of the local cluster's program that a process belongs to, or undefined. */
export type WhoseProcess = (pid: number) => Promise<string | undefined>;

/**
 * Identifies programs by the records of the local cluster. Their child processes belong to them; processes that outlive
 * them, as the containers' shims, are identified by their arguments.
 */
export async function clusterPrograms(): Promise<WhoseProcess> {
  const folder = join(stateFolder, "cluster/processes");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".json"));
  const contents = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  const records = contents.map((content) => JSON.parse(content) as { readonly pid: number; readonly name: string });
  const recorded = new Map(records.map(({ pid, name }) => [pid, name]));
  const whose: WhoseProcess = async (pid) => {
    if (pid <= 1) return undefined;
    const known = recorded.get(pid);
    if (known !== undefined) return known;
    if ((await ofProcess(pid, "cmdline")).includes(RUN_FOLDER)) return (await ofProcess(pid, "comm")).trim();
    return whose((await parentOf(pid)) ?? 0);
  };
  return whose;
}
