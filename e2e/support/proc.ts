import { readFile } from "node:fs/promises";

/** What /proc tells of that process in that file (proc(5)); empty when it has ended meanwhile. */
export async function ofProcess(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
}

/** The pid of that process's parent, 0 when it is none of this namespace; undefined when the process has ended meanwhile. */
export async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await ofProcess(pid, "stat");
  // The second field after the name, which stands in brackets and may hold anything (proc_pid_stat(5)).
  return stat === "" ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}
