import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, cp, glob, mkdir, mkdtemp, readFile, rename, rm, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { withLock } from "../processes/lock.ts";
import { run } from "../processes/run.ts";
import type { Progress } from "../progress.ts";
import type { GoModule } from "./modules.ts";
import { replacePackages, sourceOf } from "./replaced-packages.ts";

const BUILD_DEADLINE_MS = 60 * 60_000;

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

/** Runs the work under a machine-wide lock of that name; without a lock where the system is not Linux. */
export function onlyHere(name: string, work: () => Promise<void>): Promise<void> {
  if (process.platform !== "linux") return work();
  return withLock({ name, what: `the build of ${name} by another process`, deadlineMs: BUILD_DEADLINE_MS }, work);
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

/** The folder of built programs, shared by all checkouts on this machine; safe to delete. */
export function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "ephemeral-environments");
}

/** Sixteen hexadecimal digits that change with the module's source files and build flags. */
export async function sourceHash({ folder, buildSeconds, ...flags }: GoModule): Promise<string> {
  const source = folderOf({ folder });
  return hashOfFiles(source, ["go.mod", "go.sum", "**/*.go"], JSON.stringify([flags, BUILD_FLAGS]));
}

/** Sixteen hexadecimal digits that change with the text and with the names and contents of the matching files. */
export async function hashOfFiles(folder: string, patterns: readonly string[], text = ""): Promise<string> {
  const names = await Array.fromAsync(glob(patterns, { cwd: folder }));
  const hash = createHash("sha256").update(text);
  for (const name of names.sort()) hash.update(`\0${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Makes a cache folder, which appears complete or not at all. */
export async function intoCache(target: string, make: (folder: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const unfinished = await mkdtemp(`${target}.unfinished-`);
  try {
    await make(unfinished);
    await chmod(unfinished, 0o755);
    await rename(unfinished, target);
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
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
