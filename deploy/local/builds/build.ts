import { existsSync } from "node:fs";
import { chmod, copyFile, cp, glob, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BUILD_DEADLINE_MS, cacheRoot, hashOfFiles, intoCache, onlyHere } from "../../build/folders.ts";
import type { Progress } from "../../build/progress.ts";
import { run } from "../../build/run.ts";
import type { GoModule } from "./modules.ts";

/** The linker drops debug information (`-s -w`), so the compiler makes none: this saves a seventh of the build time. */
const BUILD_FLAGS = ["-trimpath", "-gcflags=all=-dwarf=false"];

/** A built module: the folder of its programs, and that of the source files they need at run time. */
export interface BuiltModule {
  readonly programs: string;
  readonly files: string;
}

/**
 * The built module, from the cache or built now (minutes on a cold machine, shown as a step).
 *
 * A cache folder is named by the hash of the module's sources and flags and appears complete or not at all. A second process
 * waits for the first one's build, because Go would compile everything twice.
 */
export async function buildModule(module: GoModule, progress: Progress): Promise<BuiltModule> {
  const target = await cacheFolder(module);
  const build = async () => {
    if (existsSync(target)) return;
    await intoCache(target, async (folder) => {
      await compile(module, folder);
      await copyModuleFiles(module, join(folder, "files"));
    });
  };
  if (!existsSync(target)) await progress.step(`build ${module.name}`, () => onlyHere(basename(target), build));
  return builtIn(target);
}

/** The module in the cache, or undefined when it is not built. */
export async function builtModule(module: GoModule): Promise<BuiltModule | undefined> {
  const target = await cacheFolder(module);
  return existsSync(target) ? builtIn(target) : undefined;
}

async function cacheFolder(module: GoModule): Promise<string> {
  return join(cacheRoot(), `${module.name}-${await sourceHash(module)}`);
}

function builtIn(target: string): BuiltModule {
  return { programs: join(target, "programs"), files: join(target, "files") };
}

/** Sixteen hexadecimal digits that change whenever a source file or a build flag of the module does. */
export async function sourceHash({ folder, buildSeconds, ...flags }: GoModule): Promise<string> {
  const source = folderOf({ folder });
  return hashOfFiles(source, ["go.mod", "go.sum", "**/*.go"], JSON.stringify([flags, BUILD_FLAGS]));
}

async function compile(module: GoModule, folder: string): Promise<void> {
  const { cgo = false, tags = "", ldflags = "", links, replaced = [], target } = module;
  const programs = join(folder, "programs");
  const work = join(folder, "work");
  await mkdir(programs, { recursive: true });
  const modFile = replaced.length > 0 ? ["-modfile", await replacePackages(folderOf(module), replaced, work)] : [];
  const flags = [...modFile, ...BUILD_FLAGS, "-tags", tags, "-ldflags", `-s -w ${ldflags}`];
  await run("go", ["build", ...flags, "-o", `${programs}/`, target], {
    cwd: folderOf(module),
    env: { ...process.env, CGO_ENABLED: cgo ? "1" : "0" },
    deadlineMs: BUILD_DEADLINE_MS,
  });
  await rm(work, { recursive: true, force: true });
  for (const name of links?.names ?? []) await symlink(links?.to ?? "", join(programs, name));
}

async function copyModuleFiles({ files, ...module }: GoModule, target: string): Promise<void> {
  if (!files) return;
  const source = await sourceOf(files.module, folderOf(module));
  const scripts = files.scripts ?? [];
  for (const path of [...files.paths, ...scripts])
    await cp(join(source, path), join(target, path), { recursive: true });
  // The module cache is read-only, and a read-only copy can't be deleted by its owner.
  await run("chmod", ["-R", "u+w,a+rX", target]);
  // A module's archive drops the executable bit.
  for (const script of scripts) await chmod(join(target, script), 0o755);
}

function folderOf({ folder }: Pick<GoModule, "folder">): string {
  return join(import.meta.dirname, "..", folder);
}

const DOWNLOAD_DEADLINE_MS = 10 * 60_000;

/** The folder of Go's module cache with the sources of a module, in the version that the go.mod in `folder` selects. */
export async function sourceOf(module: string, folder: string): Promise<string> {
  const options = { cwd: folder, deadlineMs: DOWNLOAD_DEADLINE_MS };
  return (JSON.parse(await run("go", ["mod", "download", "-json", module], options)) as { Dir: string }).Dir;
}

/**
 * Copies modules below `work` with some of their packages replaced, and returns the path of a go.mod for `-modfile` that
 * takes them from there. Each folder below `<folder>/replaced/<module>` that holds Go files replaces the package at that
 * place. Go's own `-overlay` refuses files of the module cache.
 */
async function replacePackages(folder: string, modules: readonly string[], work: string): Promise<string> {
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
