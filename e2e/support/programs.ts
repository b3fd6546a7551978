import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { stateFolder } from "./site.ts";

/** Where the local cluster has its sockets and mounts. */
const RUN_FOLDER = "/run/ephemeral-environments/";

/** Tells of a process to which of the local cluster's programs it belongs; undefined when it is none of theirs. */
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
    return whose(parentIn(await ofProcess(pid, "stat")));
  };
  return whose;
}

/** Empty when the process has ended meanwhile. */
async function ofProcess(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
}

/** The second field after the name, which stands in brackets and may hold anything (proc_pid_stat(5)). */
function parentIn(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1] ?? 0);
}
