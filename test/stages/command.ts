import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { join, resolve } from "node:path";

/** The folder of the sources. */
export const checkout = resolve(import.meta.dirname, "../..");
/** The Node that runs us. */
export const node = process.execPath;
/** The path of a program of an installed package, in the checkout in which it is run. */
export const bin = (name: string) => join("node_modules/.bin", name);

/** Where a stage's programs write: our own output, or an open file. */
export type Output = "inherit" | number;

/** Writes lines of our own there. */
export function print(text: string, output: Output): void {
  if (output === "inherit") console.log(text);
  else writeSync(output, `${text}\n`);
}

/** How a command is run. */
export interface How {
  /** Default: our own. */
  readonly checkout?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly output?: Output;
}

/** The command's exit code, 127 when it can't be started. */
export async function run(
  command: string,
  args: readonly string[],
  { checkout: cwd = checkout, env = process.env, output = "inherit" }: How = {},
): Promise<number> {
  // A shell believes its parent about where it is, if that is the same folder by another path.
  const child = spawn(command, args, { cwd, stdio: ["ignore", output, output], env: { ...env, PWD: cwd } });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } catch (error) {
    console.error(`${command} can't be started: ${(error as Error).message}`);
    return 127;
  }
}
