import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, glob, mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { withLock } from "./lock.ts";

/** The longest that a build may take, and that another process waits for it, in milliseconds. */
export const BUILD_DEADLINE_MS = 60 * 60_000;

/** The folder for everything that is made while working: the checkout's, ignored by git, unless STATE_FOLDER says. */
export const stateFolder = resolve(process.env.STATE_FOLDER || join(import.meta.dirname, "../../.local"));

/** The folder that keeps the built programs of all checkouts on this machine; safe to delete. */
export function cacheRoot(): string {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "ephemeral-environments");
}

/** Sixteen hexadecimal digits that change with the names and contents of the folder's files that fit, and with the text. */
export async function hashOfFiles(folder: string, patterns: readonly string[], text = ""): Promise<string> {
  const names = await Array.fromAsync(glob(patterns, { cwd: folder }));
  const hash = createHash("sha256").update(text);
  for (const name of names.sort()) hash.update(`\0${name}\0`).update(await readFile(join(folder, name)));
  return hash.digest("hex").slice(0, 16);
}

/** Makes a folder of the cache: it appears complete or not at all. */
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

/** Does the work while no other process of this machine does the one of that name; the lock needs Linux. */
export function onlyHere(name: string, work: () => Promise<void>): Promise<void> {
  if (process.platform !== "linux") return work();
  return withLock({ name, what: `the build of ${name} by another process`, deadlineMs: BUILD_DEADLINE_MS }, work);
}
