import { readFileSync } from "node:fs";

/**
 * What the file holds, as text; `undefined` without a file. It waits for the disk: only for what is read once, at the start.
 *
 * @throws Error when it can't be read
 */
export function contentOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, "utf8");
}
