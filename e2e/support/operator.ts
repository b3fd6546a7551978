import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ask } from "./api.ts";
import { stateFolder } from "./site.ts";
import { waitUntil } from "./wait.ts";

const RESTART_DEADLINE_MS = 60_000;
const END_DEADLINE_MS = 10_000;

interface Recorded {
  readonly pid: number;
  /** Clock ticks since boot: distinguishes the program from a later one with the same pid. */
  readonly startedAt: string;
}

/** Ends the operator as a crash would. Answers its pid when it is gone. */
export const killOperator = () => kill("operator");

/** Ends the gate as a crash would. Answers its pid when it is gone. */
export const killGate = () => kill("gate");

/** Waits until another gate runs, which may not serve yet. */
export async function untilGateRuns(otherThan: number): Promise<void> {
  const check = () => runsAnew("gate", otherThan);
  await waitUntil({ what: "another gate", check, deadlineMs: RESTART_DEADLINE_MS });
}

async function kill(name: string): Promise<number> {
  const program = await recorded(name);
  if (!(await runs(program))) throw new Error(`the ${name} does not run: there is nothing to kill`);
  process.kill(program.pid, "SIGKILL");
  const check = async () => !(await runs(program));
  await waitUntil({ what: `the end of the ${name}`, check, deadlineMs: END_DEADLINE_MS });
  return program.pid;
}

/** Suspends the supervisor until `resumeSupervisor`, so that a test can check the state after a crash. */
export async function pauseSupervisor(): Promise<void> {
  process.kill((await recorded("supervisor")).pid, "SIGSTOP");
}

/** Resumes the supervisor and resets its restart delays, which grow with each end. */
export async function resumeSupervisor(): Promise<void> {
  const { pid } = await recorded("supervisor");
  process.kill(pid, "SIGHUP");
  process.kill(pid, "SIGCONT");
}

/** Waits until another operator is ready, and answers its pid. */
export async function untilOperatorServes(otherThan: number): Promise<number> {
  const check = async () => {
    if (!(await runsAnew("operator", otherThan))) return false;
    // The operator refuses connections at first, then answers 503 until it has read every kind; some routes need fewer of
    // them.
    return ask("GET", "/ready", { token: null }).then(
      ({ status }) => status === 200,
      () => false,
    );
  };
  await waitUntil({ what: "another operator", check, deadlineMs: RESTART_DEADLINE_MS });
  return (await recorded("operator")).pid;
}

async function runsAnew(name: string, otherThan: number): Promise<boolean> {
  const program = await recorded(name);
  return program.pid !== otherThan && (await runs(program));
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
  // The program's name ends at the last parenthesis and may hold any character.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return state !== undefined && state !== "Z" && state !== "X" && rest[18] === startedAt;
}
