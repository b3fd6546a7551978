import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./command.ts";
import { checkout, stateFolder } from "./site.ts";

const RESTART_DEADLINE_MS = 120_000;
const END_DEADLINE_MS = 10_000;

interface Recorded {
  readonly pid: number;
  /** Clock ticks since boot: tells the program from another that was given its number later. */
  readonly startedAt: string;
}

/** Ends the operator as a crash would: at once, with no chance to finish anything. Answers when it is gone. */
export async function killOperator(): Promise<void> {
  const operator = await recordedOperator();
  if (!(await runs(operator))) throw new Error("the operator does not run: there is nothing to kill");
  process.kill(operator.pid, "SIGKILL");
  const giveUpAt = performance.now() + END_DEADLINE_MS;
  while (await runs(operator)) {
    if (performance.now() > giveUpAt) throw new Error(`the operator (${operator.pid}) survived SIGKILL`);
  }
}

/** Starts what of the local cluster is missing, as a person would, and makes sure that it was the operator. */
export async function restartOperator(): Promise<void> {
  const { code, stdout, stderr } = await run("make", { args: ["up"], cwd: checkout, deadlineMs: RESTART_DEADLINE_MS });
  if (code !== 0) throw new Error(`make up ended with ${code}: ${stdout}${stderr}`);
  if (!(await runs(await recordedOperator()))) throw new Error("make up ended well, but no operator runs");
}

/** Whether the operator runs now. */
export async function operatorRuns(): Promise<boolean> {
  return runs(await recordedOperator());
}

async function recordedOperator(): Promise<Recorded> {
  return JSON.parse(await readFile(join(stateFolder, "cluster/processes/operator.json"), "utf8")) as Recorded;
}

/** Reads state and start from /proc/PID/stat (proc_pid_stat(5)); a zombie has ended. */
async function runs({ pid, startedAt }: Recorded): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ESRCH") return undefined;
    throw error;
  });
  // What stands before the last parenthesis is the program's name, which may hold anything.
  const [state, ...rest] = stat?.slice(stat.lastIndexOf(")") + 2).split(" ") ?? [];
  return state !== undefined && state !== "Z" && state !== "X" && rest[18] === startedAt;
}
