import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * The start time of a pid, as a number in text that grows with time (its unit depends on the system), or undefined when the
 * process has ended or is a zombie. A process whose first thread alone is a zombie is alive and keeps its ports until its
 * last thread has ended, which can take a while.
 */
export function startOf(pid: number): string | undefined {
  return process.platform === "linux" ? startInProc(pid) : startByPs(pid);
}

/** Reads state and start time from a line of /proc/PID/stat (proc_pid_stat(5)); the name in it may hold any character. */
export function parseStart(stat: string): string | undefined {
  const [state, ...rest] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const threads = Number(rest[16]);
  return state === "X" || (state === "Z" && threads < 2) ? undefined : rest[18];
}

/**
 * Reads the start time in milliseconds since 1970 from ps(1)'s columns `stat` (`l`: several threads) and `lstart` in the C
 * locale.
 */
export function parsePsStart(line: string): string | undefined {
  const [, state = "", started = ""] = /^(\S+)\s+(.+)$/.exec(line.trim()) ?? [];
  const isEnded = state.startsWith("Z") && !state.includes("l");
  return started === "" || isEnded ? undefined : String(Date.parse(started));
}

function startInProc(pid: number): string | undefined {
  try {
    return parseStart(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch (error) {
    // ESRCH: the process ended between open and read.
    if (["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Start of a process on systems without /proc, which all have ps. It exits with 1, silently, for an unknown pid. */
function startByPs(pid: number): string | undefined {
  const columns = ["-o", "stat=", "-o", "lstart=", "-p", String(pid)];
  const { stdout, error } = spawnSync("ps", columns, { encoding: "utf8", env: { ...process.env, LC_ALL: "C" } });
  if (error) throw error;
  return parsePsStart(stdout);
}
