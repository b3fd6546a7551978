import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheRoot } from "../../../deploy/build/folders.ts";
import { run } from "../../../deploy/build/run.ts";

/** Takes seconds on an idle machine. */
const INSTALL_DEADLINE_MS = 10 * 60_000;
const NEEDED = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))";

/** The reason why this machine can't run Python programs, in one sentence, or undefined. */
export async function whyNoPython(): Promise<string | undefined> {
  const works = await run("python3", ["-c", NEEDED]).then(
    () => true,
    () => false,
  );
  return works ? undefined : "It needs Python 3.11 or newer with venv (Debian: python3-venv).";
}

/**
 * A Python with the packages of a requirements file, from the cache or installed from PyPI by the file's hashes. An
 * interrupted installation has no mark, and is repeated.
 *
 * @param name prefix of the cache folder
 * @param requirements the path of the requirements file
 */
export async function installedPython(name: string, requirements: string): Promise<string> {
  const version = await run("python3", ["-c", "import sys; print(sys.version)"]);
  const hash = createHash("sha256")
    .update(version)
    .update(await readFile(requirements))
    .digest("hex");
  const folder = join(cacheRoot(), `${name}-${hash.slice(0, 16)}`);
  const python = join(folder, "bin/python");
  const mark = join(folder, "complete");
  if (existsSync(mark)) return python;
  await rm(folder, { recursive: true, force: true });
  await mkdir(cacheRoot(), { recursive: true });
  await run("python3", ["-m", "venv", folder], { deadlineMs: INSTALL_DEADLINE_MS });
  const flags = ["--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input"];
  await run(python, ["-m", "pip", "install", ...flags, "-r", requirements], { deadlineMs: INSTALL_DEADLINE_MS });
  await writeFile(mark, "");
  return python;
}
