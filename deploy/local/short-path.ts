/** The path relative to the current folder. */
export function shortPath(path: string): string {
  return path.replace(`${process.cwd()}/`, "");
}
