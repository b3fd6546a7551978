/** The path as a person types it: without the current folder. */
export function shortPath(path: string): string {
  return path.replace(`${process.cwd()}/`, "");
}
