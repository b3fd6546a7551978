import { type FileHandle, open, rename, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";

/** Location and retention of the lines. */
export interface RotatingFileOptions {
  readonly path: string;
  /** Size at which a new file begins. */
  readonly maxBytes: number;
  /** Older files beside it: `.1` is the youngest. */
  readonly keep: number;
}

/** Free space below which the next line may not fit. */
const SPARE_BYTES = 1_048_576;
/** Lines kept in memory while writing fails; the oldest are dropped. */
const MAX_WAITING = 10_000;

interface Line {
  readonly text: string;
  /** Called once, with the first attempt's result. */
  readonly settle: (isWritten: boolean) => void;
}

/**
 * Lines in a file, in order. Unwritable lines (full disk, missing folder) wait for the next attempt; winston's file
 * transport would stop for good, without an error.
 */
export class RotatingFile {
  readonly #options: RotatingFileOptions;
  #waiting: Line[] = [];
  #open: { readonly handle: FileHandle; readonly inode: number; size: number } | undefined;
  #work: Promise<void> | undefined;

  constructor(options: RotatingFileOptions) {
    this.#options = options;
  }

  /** True when the line is in the file; otherwise it is written later. */
  append(text: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    this.#waiting.push({ text: `${text}\n`, settle: resolve });
    for (const dropped of this.#waiting.splice(0, this.#waiting.length - MAX_WAITING)) dropped.settle(false);
    void this.#begin();
    return promise;
  }

  /** Writes waiting lines; true when none is left and there is space for the next. */
  async isReady(): Promise<boolean> {
    if (this.#waiting.length > 0) await this.#begin();
    return this.#waiting.length === 0 && hasRoom(this.#options.path);
  }

  /** Writes waiting lines, if possible; later lines reopen the file. */
  async close(): Promise<void> {
    if (this.#waiting.length > 0) await this.#begin();
    await this.#work;
    await this.#shut();
  }

  /** Call while lines wait. */
  #begin(): Promise<void> {
    this.#work ??= this.#writeAll();
    return this.#work;
  }

  /**
   * Runs until no line waits or a write fails. Its end and the answers to callers are one step: no call comes between.
   */
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
      // A partial line would corrupt the next one.
      await file.handle.truncate(file.size);
      throw error;
    }
    file.size += bytes.length;
  }

  async #fileFor(bytes: number) {
    // Deleted or moved: further lines would be lost.
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
