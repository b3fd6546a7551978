import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Response } from "express";

/** How a file is answered. */
export interface StaticFile {
  /** Its path on this machine. */
  readonly file: string;
  /** How long it is good for, as `Cache-Control` says it. */
  readonly cacheControl: string;
  /** Its file name extension, where that of the path is another's. */
  readonly type?: string;
  /** Further headers, such as `Content-Encoding`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers with a file, whole, or 304 where the browser has it. It is known by its content: the files of an image all have the
 * same time, whichever release they are of.
 *
 * @returns whether there is such a file; nothing is answered otherwise
 */
export async function sendStatic(
  response: Response,
  { file, cacheControl, type = extname(file), headers = {} }: StaticFile,
): Promise<boolean> {
  const content = await readFile(file).catch(absent);
  if (content === undefined) return false;
  const digest = createHash("sha256").update(content).digest("base64url");
  response.type(type).set({ "Cache-Control": cacheControl, ETag: `"${digest}"`, ...headers });
  response.send(content);
  return true;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "EISDIR" || error.code === "ENOTDIR") return undefined;
  throw error;
}
