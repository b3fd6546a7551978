import { readFileSync } from "node:fs";

/** Text of a file of the settings, read once; `undefined` without a file. @throws Error when it is unreadable */
export function contentOf(file: string | undefined): string | undefined {
  return file === undefined ? undefined : readFileSync(file, "utf8");
}
