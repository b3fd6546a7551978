import { spawn } from "node:child_process";
import { once } from "node:events";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";

export const checkout = resolve(import.meta.dirname, "../..");
export const node = process.execPath;
/** The path of an installed package's program, relative to the checkout. */
export const bin = (name: string) => join("node_modules/.bin", name);

/** The environment and the checkout of a command; default: ours. */
export interface How {
  readonly checkout?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
}

/** Runs a command with our output. Answers its exit code, 1 after a signal, 127 when it can't be started. */
export async function run(
  command: string,
  args: readonly string[],
  { checkout: cwd = checkout, env = process.env }: How = {},
): Promise<number> {
  // A shell trusts PWD when it is the same folder by another path.
  const child = spawn(command, args, { cwd, env: { ...env, PWD: cwd }, stdio: ["ignore", "inherit", "inherit"] });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } catch (error) {
    console.error(`${command} can't be started: ${(error as Error).message}`);
    return 127;
  }
}

/** Runs a command and answers its output, standard error last, and its success. */
export async function outputOf(command: string, args: readonly string[]): Promise<{ ok: boolean; output: string }> {
  const child = spawn(command, args, { cwd: checkout, stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(child, "close") as Promise<[number | null]>;
  try {
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
    return { ok: code === 0, output: out + err };
  } catch (error) {
    return { ok: false, output: `${command} can't be started: ${(error as Error).message}` };
  }
}
