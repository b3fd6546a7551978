export function shortPath(path: string): string {
  return path.replace(`${process.cwd()}/`, "");
}
