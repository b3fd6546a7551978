import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * When the kernel started that pid, as a number in text that grows with time (its unit differs between systems), or
 * undefined when it has ended or is a zombie.
 */
export function startOf(pid: number): string | undefined {
  return process.platform === "linux" ? startInProc(pid) : startByPs(pid);
}

/** Reads state and start time from a line of /proc/PID/stat (proc_pid_stat(5)); the name in it may hold anything. */
export function parseStart(stat: string): string | undefined {
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" || state === "X" ? undefined : rest[18];
}

/** Reads the same, in milliseconds since 1970, from what ps(1) says of the columns `stat` and `lstart` in the C locale. */
export function parsePsStart(line: string): string | undefined {
  const [, state = "", started = ""] = /^(\S+)\s+(.+)$/.exec(line.trim()) ?? [];
  return started === "" || state.startsWith("Z") ? undefined : String(Date.parse(started));
}

function startInProc(pid: number): string | undefined {
  try {
    return parseStart(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    // ESRCH: the process ended between opening its file and reading it.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Systems without /proc: ps is in every one of them. It ends with 1, and says nothing, when there is no such process. */
function startByPs(pid: number): string | undefined {
  const columns = ["-o", "stat=", "-o", "lstart=", "-p", String(pid)];
  const { stdout, error } = spawnSync("ps", columns, { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
  if (error) throw error;
  return parsePsStart(stdout);
}
