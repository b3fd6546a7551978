import { mkdir, writeFile } from "node:fs/promises";
import { shellVariablesFile, stateFolder } from "./folders.ts";

/** Writes `.local/env`, which a shell reads with `source`; only its owner can read it. Answers its path. */
export async function writeShellVariables(variables: Readonly<Record<string, string>>): Promise<string> {
  const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  await mkdir(stateFolder, { recursive: true });
  await writeFile(shellVariablesFile, lines.join(""), { mode: 0o600 });
  return shellVariablesFile;
}
