import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildClients } from "../clients/build.ts";
import { programsFolder } from "./folders.ts";

const file = resolve(import.meta.dirname, "../../clients/cli/dist/eenv.mjs");

/** Puts `eenv` into `.local/bin`, built from the checkout and run by the current Node. Builds the web console, too. */
export async function installCommandLine(): Promise<void> {
  await buildClients();
  await mkdir(programsFolder, { recursive: true });
  const quoted = (path: string) => `'${path.replaceAll("'", "'\\''")}'`;
  const script = `#!/bin/sh\nexec ${quoted(process.execPath)} ${quoted(file)} "$@"\n`;
  await writeFile(join(programsFolder, "eenv"), script, { mode: 0o755 });
}
