import { readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "../../../deploy/local/processes/process.ts";
import { startOf } from "../../../deploy/local/processes/process-start.ts";
import { writeWhole } from "../../../deploy/local/processes/whole-file.ts";

const graceMs = 60_000;

/** The longest address of a Unix socket: unix(7), without the zero at the end. */
const SOCKET_PATH_BYTES = 107;

/**
 * Where a temporary folder of that prefix is to be made so that Unix sockets in it, with names of 16 bytes at most, can be
 * reached by their whole path: the usual parent, or `/tmp` where that one's path is too long.
 */
export function parentForSockets(prefix: string, usual = tmpdir()): string {
  const longest = join(usual, `${prefix}XXXXXX`, "s".repeat(16));
  return Buffer.byteLength(longest) <= SOCKET_PATH_BYTES ? usual : "/tmp";
}

/** Records that our own process uses that folder, so that `clearAbandoned` of another one leaves it alone. */
export async function markOwned(folder: string): Promise<void> {
  const owner = { pid: process.pid, startedAt: startOf(process.pid) };
  await writeWhole(join(folder, "owner.json"), JSON.stringify(owner));
}

/** Removes the temporary folders with that prefix whose owner has ended without removing them. */
export async function clearAbandoned(prefix: string, parent = tmpdir()): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix));
  for (const folder of names.map((name) => join(parent, name))) {
    if (await isAbandoned(folder)) await rm(folder, { recursive: true, force: true });
  }
}

async function isAbandoned(folder: string): Promise<boolean> {
  try {
    return !isAlive(JSON.parse(await readFile(join(folder, "owner.json"), "utf8")));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EACCES") return false; // another user's
    if (code === "ENOENT") return isOld(folder); // it is being made right now, or was killed before it was marked
    throw error;
  }
}

async function isOld(folder: string): Promise<boolean> {
  const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs > graceMs;
}
