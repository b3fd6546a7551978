import { copyFile, cp, glob, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { run } from "../processes/run.ts";

const DOWNLOAD_DEADLINE_MS = 10 * 60_000;

/** The folder of a module's sources in Go's module cache, in the version that the go.mod in `folder` selects. */
export async function sourceOf(module: string, folder: string): Promise<string> {
  const options = { cwd: folder, deadlineMs: DOWNLOAD_DEADLINE_MS };
  return (JSON.parse(await run("go", ["mod", "download", "-json", module], options)) as { Dir: string }).Dir;
}

/**
 * Copies modules below `work` with some packages replaced, and returns the path of a go.mod for `-modfile` that uses the
 * copies. Each folder below `<folder>/replaced/<module>` with Go files replaces the package at that place. Go's own
 * `-overlay` refuses files of the module cache.
 */
export async function replacePackages(folder: string, modules: readonly string[], work: string): Promise<string> {
  const modFile = join(work, "go.mod");
  await mkdir(work, { recursive: true });
  for (const name of ["go.mod", "go.sum"]) await copyFile(join(folder, name), join(work, name));
  for (const module of modules) {
    const copy = join(work, module);
    await cp(await sourceOf(module, folder), copy, { recursive: true });
    // The module cache is read-only.
    await run("chmod", ["-R", "u+w", copy]);
    await putPackages(join(folder, "replaced", module), copy);
    await run("go", ["mod", "edit", `-replace=${module}=${copy}`, modFile]);
  }
  return modFile;
}

async function putPackages(from: string, into: string): Promise<void> {
  const files = await Array.fromAsync(glob("**/*.go", { cwd: from }));
  for (const place of new Set(files.map(dirname))) {
    const replaced = (await readdir(join(into, place))).filter((name) => name.endsWith(".go"));
    for (const name of replaced) await rm(join(into, place, name));
  }
  for (const file of files) await copyFile(join(from, file), join(into, file));
}
