import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { cacheRoot } from "../../deploy/local/binaries.ts";
import { run } from "../../deploy/local/run.ts";

const requirements = join(import.meta.dirname, "requirements.txt");
const NEEDED = "import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))";

/** Why schemathesis can't run on this machine, in one sentence, or undefined when it can. */
export async function whyNoPython(): Promise<string | undefined> {
  const works = await run("python3", ["-c", NEEDED]).then(
    () => true,
    () => false,
  );
  return works ? undefined : "It needs Python 3.11 or newer with venv (Debian: python3-venv).";
}

/**
 * The Python that has schemathesis, from the cache or installed now from PyPI, by the hashes of requirements.txt.
 * An installation that was cut off has no mark, and is made anew.
 */
export async function installedPython(): Promise<string> {
  const version = await run("python3", ["-c", "import sys; print(sys.version)"]);
  const hash = createHash("sha256")
    .update(version)
    .update(await readFile(requirements))
    .digest("hex");
  const folder = join(cacheRoot(), `schemathesis-${hash.slice(0, 16)}`);
  const python = join(folder, "bin/python");
  const mark = join(folder, "complete");
  if (existsSync(mark)) return python;
  await rm(folder, { recursive: true, force: true });
  await mkdir(cacheRoot(), { recursive: true });
  await run("python3", ["-m", "venv", folder]);
  const flags = ["--require-hashes", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input"];
  await run(python, ["-m", "pip", "install", ...flags, "-r", requirements], { deadlineMs: 10 * 60_000 });
  await writeFile(mark, "");
  return python;
}
