import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "./api.ts";
import { stateFolder } from "./site.ts";
import { waitUntil } from "./wait.ts";

const RESTART_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 10_000;

/** A program of the local cluster, as it was recorded when it was started. */
interface Recorded {
  readonly pid: number;
  /** Clock ticks since boot: tells the program from another that was given its number later. */
  readonly startedAt: string;
}

/** Ends the operator as a crash would: at once, with no chance to finish anything. Answers its pid when it is gone. */
export async function killOperator(): Promise<number> {
  const operator = await recorded("operator");
  if (!(await runs(operator))) throw new Error("the operator does not run: there is nothing to kill");
  process.kill(operator.pid, "SIGKILL");
  const check = async () => !(await runs(operator));
  await waitUntil({ what: "the end of the operator", check, deadlineMs: END_DEADLINE_MS });
  return operator.pid;
}

/** Keeps the supervisor from starting anything again until `resumeSupervisor`, so that a test can look at what a crash left. */
export async function pauseSupervisor(): Promise<void> {
  process.kill((await recorded("supervisor")).pid, "SIGSTOP");
}

/** Lets the supervisor go on, and has it forget what earlier tests ended: it waits longer for what ends often. */
export async function resumeSupervisor(): Promise<void> {
  const { pid } = await recorded("supervisor");
  process.kill(pid, "SIGHUP");
  process.kill(pid, "SIGCONT");
}

/** Waits until another operator than that one is ready, and answers its pid. */
export async function untilOperatorServes(otherThan: number): Promise<number> {
  const check = async () => {
    const operator = await recorded("operator");
    if (operator.pid === otherThan || !(await runs(operator))) return false;
    // It refuses connections at first, then answers 503 until it has read every kind; some routes need fewer of them.
    return ask("GET", "/ready", { token: null }).then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  await waitUntil({ what: "another operator", check, deadlineMs: RESTART_DEADLINE_MS });
  return (await recorded("operator")).pid;
}

async function recorded(program: string): Promise<Recorded> {
  return JSON.parse(await readFile(join(stateFolder, `cluster/processes/${program}.json`), "utf8")) as Recorded;
}

/** Reads state and start from /proc/PID/stat (proc_pid_stat(5)); a zombie has ended. */
async function runs({ pid, startedAt }: Recorded): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return undefined;
    throw error;
  });
  // The program's name stands before the last parenthesis and may hold any character.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return state !== undefined && state !== "Z" && state !== "X" && rest[18] === startedAt;
}
