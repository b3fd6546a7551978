import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import type { Response } from "express";
import { sha256 } from "../../crds/digest.ts";

/** Answer with a file. */
export interface StaticFile {
  readonly file: string;
  /** Value of `Cache-Control`. */
  readonly cacheControl: string;
  /** File name extension, if the path's differs. */
  readonly type?: string;
  /** Further headers, such as `Content-Encoding`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Answers with a whole file, or 304 where the browser has it, by its content: all files of an image have the same time,
 * in every release.
 *
 * @returns false, with nothing answered, for a missing file
 */
export async function sendStatic(
  response: Response,
  { file, cacheControl, type = extname(file), headers = {} }: StaticFile,
): Promise<boolean> {
  const content = await readFile(file).catch(absent);
  if (content === undefined) return false;
  const digest = sha256(content, "base64url");
  response.type(type).set({ "Cache-Control": cacheControl, ETag: `"${digest}"`, ...headers });
  response.send(content);
  return true;
}

function absent(error: NodeJS.ErrnoException): undefined {
  if (error.code === "ENOENT" || error.code === "EISDIR" || error.code === "ENOTDIR") return undefined;
  throw error;
}
