import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** A program's user (default: ours) and its working folder. */
export interface Workplace {
  readonly cwd?: string;
  readonly uid?: number;
  readonly gid?: number;
}

/**
 * Options of a command: user and folder, its whole environment (default: ours), its standard input and its deadline in
 * milliseconds.
 */
export interface RunOptions extends Workplace {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
  readonly deadlineMs?: number;
}

/**
 * Runs a command to its end and returns its standard output.
 *
 * Fails when the command cannot be started, exits with another code than 0, or exceeds the deadline (default: one minute):
 * the error names the command and carries the end of its output.
 */
export async function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { deadlineMs = 60_000, env = process.env, input } = options;
  try {
    const running = execute(command, args, {
      ...workplace(options),
      env: withSystemPath(env),
      timeout: deadlineMs,
      maxBuffer: 64 * 1024 * 1024,
    });
    // The exit code shows when a command ends before it has read all of its input.
    if (input !== undefined) running.child.stdin?.on("error", () => undefined).end(input);
    return (await running).stdout;
  } catch (error) {
    throw new Error(`${command} ${args.slice(0, 3).join(" ")} failed: ${endOfOutput(error)}`, { cause: error });
  }
}

/** User and folder for a program; another user works in `/` by default, because our folder may be root's alone. */
export function workplace({ cwd, uid, gid }: Workplace): Workplace {
  const folder = cwd ?? (uid === undefined ? undefined : "/");
  return {
    ...(folder !== undefined && { cwd: folder }),
    ...(uid !== undefined && { uid }),
    ...(gid !== undefined && { gid }),
  };
}

/** Finds the path of a program. Users other than root often have no sbin in their PATH, and root has none after `su`. */
export function findProgram(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/sbin"].filter(Boolean);
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path));
}

/** The environment with the folders of system programs in its PATH: after `su`, and for some users, they are missing. */
export function withSystemPath(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env.PATH ?? ""}:/usr/sbin:/usr/bin:/sbin:/bin` };
}

/** The environment without proxies, for programs that talk to this machine only. */
export function withoutProxies(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(https?|all|no)_proxy$/i.test(name)));
}

function endOfOutput(error: unknown): string {
  const { stderr = "", stdout = "", message = "" } = error as { stderr?: string; stdout?: string; message?: string };
  return (stderr.trim() || stdout.trim() || message).slice(-2000);
}
