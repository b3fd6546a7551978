import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** A file of the checkout: its path from the root, and its text. */
export interface CheckoutFile {
  readonly path: string;
  readonly text: string;
}

/** Paths of the files below these paths, without those that git ignores; of all without any. */
export function checkoutPaths(...below: readonly string[]): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "--", ...below];
  return execFileSync("git", args, { encoding: "utf8" })
    .split("\n")
    .filter((path) => path !== "" && existsSync(path));
}

/** Reads the files below these paths whose path matches. */
export function checkoutFiles(matching: RegExp, ...below: readonly string[]): CheckoutFile[] {
  return checkoutPaths(...below)
    .filter((path) => matching.test(path))
    .map((path) => ({ path, text: readFileSync(path, "utf8") }));
}

/** Prints findings and the way out. Any finding makes the process end with 1. */
export function reportFindings(findings: readonly string[], remedy: string): void {
  if (findings.length === 0) return;
  for (const finding of findings) console.log(finding);
  console.log(`${findings.length} findings: ${remedy}`);
  process.exitCode = 1;
}
