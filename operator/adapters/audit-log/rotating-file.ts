import { type FileHandle, open, rename, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Where lines go, and how much of them is kept. */
export interface RotatingFileOptions {
  readonly path: string;
  /** At this size the file makes room for a new one. */
  readonly maxBytes: number;
  /** Older files beside it: `.1` is the youngest. */
  readonly keep: number;
}

/** With less room the next line may not find any. */
const SPARE_BYTES = 1_048_576;
/** The most that is kept in memory while nothing can be written: the oldest lines are dropped. */
const MAX_WAITING = 10_000;

interface Line {
  readonly text: string;
  /** Told once: what the first attempt came to. */
  readonly settle: (isWritten: boolean) => void;
}

/**
 * Lines in a file, in the order in which they came. What can't be written (a full disk, a folder that is gone) waits and is
 * written with the next attempt, so that nothing is lost while the process lives; winston's own file transport falls silent
 * for good, without an error.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #waiting: Line[] = [];
  #open: { readonly handle: FileHandle; readonly inode: number; size: number } | undefined;
  #work: Promise<void> | undefined;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** Resolves with whether the line is in the file; one that is not will be written later. */
  append(text: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ text: `${text}\n`, settle: resolve });
    for (const dropped of this.#waiting.splice(0, this.#waiting.length - MAX_WAITING)) dropped.settle(false);
    void this.#begin();
    return promise;
  }

  /** Tries to write what waits; whether nothing does any more, and the next line would find room. */
  async isReady(): Promise<boolean> {
    if (this.#waiting.length > 0) await this.#begin();
    return this.#waiting.length === 0 && hasRoom(this.#options.path);
  }

  /** Writes what waits, if that can be; lines that come later begin anew. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0) await this.#begin();
    await this.#work;
    await this.#shut();
  }

  /** To be called while something waits. */
  #begin(): Promise<void> {
    this.#work ??= this.#writeAll();
    return this.#work;
  }

  /** Until no line waits, or a write fails. Its end and the answer to the waiting callers are one step: no call comes between. */
  async #writeAll(): Promise<void> {
    let isWritten = true;
    while (isWritten && this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      isWritten = await this.#attempt(batch.map(({ text }) => text).join(""));
      if (!isWritten) this.#waiting.unshift(...batch);
      for (const { settle } of isWritten ? batch : this.#waiting) settle(isWritten);
    }
    this.#work = undefined;
  }

  async #attempt(text: string): Promise<boolean> {
    try {
      await this.#write(text);
      return true;
    } catch {
      await this.#shut();
      return false;
    }
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const file = await this.#fileFor(bytes.length);
    try {
      await file.handle.appendFile(bytes);
    } catch (error) {
      // A part of a line would spoil the next one.
      await file.handle.truncate(file.size);
      throw error;
    }
    file.size += bytes.length;
  }

  async #fileFor(bytes: number) {
    // Deleted, or moved away: what is written to it would never be found.
    if (this.#open !== undefined && (await inodeAt(this.#options.path)) !== this.#open.inode) await this.#shut();
    this.#open ??= await this.#opened();
    if (this.#open.size === 0 || this.#open.size + bytes <= this.#options.maxBytes) return this.#open;
    await this.#shut();
    await this.#makeRoom();
    this.#open = await this.#opened();
    return this.#open;
  }

  async #opened() {
    const handle = await open(this.#options.path, "a", 0o600);
    const { size, ino } = await handle.stat();
    return { handle, size, inode: ino };
  }

  async #makeRoom(): Promise<void> {
    const { path, keep } = this.#options;
    const named = (age: number) => (age === 0 ? path : `${path}.${age}`);
    for (let age = keep - 1; age >= 0; age--) await rename(named(age), named(age + 1)).catch(ignoreMissing);
  }

  async #shut(): Promise<void> {
    const opened = this.#open;
    this.#open = undefined;
    await opened?.handle.close().catch(() => undefined);
  }
}

const inodeAt = (path: string) =>
  stat(path).then(
    ({ ino }) => ino,
    () => undefined,
  );

async function hasRoom(path: string): Promise<boolean> {
  try {
    await (await open(path, "a", 0o600)).close();
    const { bavail, bsize } = await statfs(dirname(path));
    return bavail * bsize >= SPARE_BYTES;
  } catch {
    return false;
  }
}

function ignoreMissing(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
}
