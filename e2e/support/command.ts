import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";

export interface Run {
  readonly args: readonly string[];
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Milliseconds until it is killed. */
  readonly deadlineMs: number;
}

export interface Outcome {
  /** The exit code; null when it was killed, as after its deadline. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end, successful or not. Fails only when it can't be started. */
export async function run(command: string, { args, input = "", env, cwd, deadlineMs }: Run): Promise<Outcome> {
  const child = spawn(command, args, { ...(cwd && { cwd }), env: { ...process.env, ...env } });
  // Node's own option would keep this process waiting when the program can't be started.
  const deadline = setTimeout(() => child.kill("SIGKILL"), deadlineMs);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  // A program that refuses its arguments ends before it reads: its exit code shows that, not the broken pipe.
  child.stdin.on("error", () => undefined).end(input);
  try {
    const [code, stdout, stderr] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(deadline);
  }
}
