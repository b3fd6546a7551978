import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

/** A benchmark's program in a separate process, which answers questions. It ends with this process. */
export interface ChildProgram<Answer> {
  /** Start by the machine's clock. */
  readonly startedAtMs: number;
  /** Asks one question at a time. @throws Error when the program ends, or does not answer in time */
  ask(question: string, deadlineMs?: number): Promise<Answer>;
  signal(name: "SIGSTOP" | "SIGCONT"): void;
  stop(): Promise<void>;
}

export interface ProgramOptions {
  /** JSON, the program's only argument. */
  readonly argument: unknown;
  readonly flags?: readonly string[];
  /** Added to this process's environment. */
  readonly env?: Readonly<NodeJS.ProcessEnv>;
}

/** A program with a blocked event loop answers late. */
const ANSWER_MS = 60_000;
const STOP_MS = 10_000;

/** @param file beside the caller's; it calls `answerParent` */
export function startProgram<Answer>(
  file: URL,
  { argument, flags = [], env = {} }: ProgramOptions,
): ChildProgram<Answer> {
  const startedAtMs = Date.now();
  const child = fork(file, [JSON.stringify(argument)], { execArgv: [...flags], env: { ...process.env, ...env } });
  return {
    startedAtMs,
    ask: (question, deadlineMs = ANSWER_MS) => ask(child, question, deadlineMs),
    signal: (name) => void child.kill(name),
    async stop() {
      if (hasEnded(child)) return;
      child.kill("SIGCONT");
      const exited = once(child, "exit");
      const killing = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
      if (child.connected) child.send({ ask: "stop" });
      await exited;
      clearTimeout(killing);
    },
  };
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

async function ask<Answer>(child: ChildProcess, question: string, deadlineMs: number): Promise<Answer> {
  const ended = new AbortController();
  const onExit = () => ended.abort(new Error("the process of the benchmark's program has ended"));
  child.once("exit", onExit);
  try {
    if (hasEnded(child)) onExit();
    const signal = AbortSignal.any([ended.signal, AbortSignal.timeout(deadlineMs)]);
    const answered = once(child, "message", { signal });
    child.send({ ask: question });
    const [{ answer }] = (await answered) as [{ answer: Answer }];
    return answer;
  } finally {
    child.off("exit", onExit);
  }
}
