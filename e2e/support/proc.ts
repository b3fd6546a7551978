import { readFile } from "node:fs/promises";

/** A file of that process in /proc (proc(5)); empty when the process has ended. */
export async function ofProcess(pid: number, file: string): Promise<string> {
  return readFile(`/proc/${pid}/${file}`, "utf8").catch(() => "");
}

/** The pid of that process's parent, 0 for a parent outside this namespace; undefined when the process has ended. */
export async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await ofProcess(pid, "stat");
  // The second field after the name, which is in brackets and may hold any character (proc_pid_stat(5)).
  return stat === "" ? undefined : Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
}
