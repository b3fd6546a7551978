import { stripVTControlCharacters } from "node:util";

/** How many tests of a stage passed and were not run, and which failed: a line for each, that names it and says why. */
export interface Count {
  readonly passed: number;
  readonly failed: readonly string[];
  readonly skipped: number;
}

export const NOTHING: Count = { passed: 0, failed: [], skipped: 0 };

export function sum(one: Count, other: Count): Count {
  return {
    passed: one.passed + other.passed,
    failed: [...one.failed, ...other.failed],
    skipped: one.skipped + other.skipped,
  };
}

const LONGEST_REASON = 400;

/** The beginning of a failure's message in one line, without the stack and the terminal's colors. */
export function inOneLine(message: string): string {
  const [said = ""] = stripVTControlCharacters(message).split(/\n +at /);
  return said.replaceAll(/\s+/g, " ").trim().slice(0, LONGEST_REASON);
}
