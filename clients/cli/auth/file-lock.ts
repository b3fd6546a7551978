import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** Longest work under the lock; an older lock is a killed process's. */
const LONGEST_MS = 60_000;
const AGAIN_MS = 50;

/** Does the work under the lock file. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  while (!taken(file)) {
    if (ageOf(file) > LONGEST_MS) rmSync(file, { force: true });
    else await pause(AGAIN_MS);
  }
  const release = () => rmSync(file, { force: true });
  // A second SIGINT may end the work.
  process.once("exit", release);
  try {
    return await work();
  } finally {
    process.off("exit", release);
    release();
  }
}

function taken(file: string): boolean {
  try {
    // Only one process can create a file that must not exist.
    writeFileSync(file, String(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function ageOf(file: string): number {
  const modified = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return modified === undefined ? 0 : Date.now() - modified;
}
