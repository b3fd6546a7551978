import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

/**
 * Writes a generated file; with `--check` fails instead when it is outdated.
 *
 * @param path from the top of the checkout, such as `docs/settings.md`
 */
export function generated(path: string, content: string): void {
  const file = new URL(`../${path}`, import.meta.url);
  if (!process.argv.includes("--check")) {
    mkdirSync(new URL(".", file), { recursive: true });
    writeFileSync(file, content);
  } else if (!existsSync(file) || readFileSync(file, "utf8") !== content) {
    process.stderr.write(`${path} is not up to date: run 'make generate' and commit the result\n`);
    process.exitCode = 1;
  }
}

/** A row of a table in Markdown. */
export function tableRow(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`;
}

/** Code in a line of Markdown. */
export function code(text: string): string {
  return `\`${text}\``;
}
