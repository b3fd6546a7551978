import { readdir, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "../../../deploy/local/processes/process.ts";
import { startOf } from "../../../deploy/local/processes/process-start.ts";
import { writeWhole } from "../../../deploy/local/processes/whole-file.ts";

const graceMs = 60_000;

/** The longest address of a Unix socket, in bytes: unix(7), without the final zero. */
const SOCKET_PATH_BYTES = 107;

/**
 * Parent for a temporary folder of that prefix, short enough for Unix sockets with names of at most 16 bytes: the usual one,
 * or `/tmp` where its path is too long.
 */
export function parentForSockets(prefix: string, usual = tmpdir()): string {
  const longest = join(usual, `${prefix}XXXXXX`, "s".repeat(16));
  return Buffer.byteLength(longest) <= SOCKET_PATH_BYTES ? usual : "/tmp";
}

/** Records our process as the folder's owner, so that other processes' `clearAbandoned` leaves it alone. */
export async function markOwned(folder: string): Promise<void> {
  const owner = { pid: process.pid, startedAt: startOf(process.pid) };
  await writeWhole(join(folder, "owner.json"), JSON.stringify(owner));
}

/** Removes temporary folders of that prefix whose owner has ended. */
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
    if (code === "ENOENT") return isOld(folder); // being created right now, or killed before it was marked
    throw error;
  }
}

async function isOld(folder: string): Promise<boolean> {
  const { mtimeMs } = await stat(folder).catch(() => ({ mtimeMs: Date.now() }));
  return Date.now() - mtimeMs > graceMs;
}
