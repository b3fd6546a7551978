import { mkdir, writeFile } from "node:fs/promises";
import { stateFolder } from "../build/folders.ts";
import { programsFolder, shellVariablesFile } from "./folders.ts";

const quoted = (value: string) => `'${value.replaceAll("'", "'\\''")}'`;

/** Idempotent, however often the file is read. */
const path = `case ":$PATH:" in *:${quoted(programsFolder)}:*) ;; *) export PATH=${quoted(programsFolder)}:"$PATH" ;; esac\n`;

/**
 * Writes `.local/env` for `source`, readable by its owner only; it also puts `.local/bin` on the PATH. Answers the file's
 * path.
 */
export async function writeShellVariables(variables: Readonly<Record<string, string>>): Promise<string> {
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${quoted(value)}\n`);
  await mkdir(stateFolder, { recursive: true });
  await writeFile(shellVariablesFile, [...lines, path].join(""), { mode: 0o600 });
  return shellVariablesFile;
}
