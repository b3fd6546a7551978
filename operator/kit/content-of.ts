import { readFileSync } from "node:fs";

/**
 * Text of the file; `undefined` without a file. Blocks on the disk: only for reads at start-up.
 *
 * @throws Error when it can't be read
 */
export function contentOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, "utf8");
}
