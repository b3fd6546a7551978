/** The command as the person types it, for the current kind of cluster: `CLUSTER=existing make down`. */
export function makeCommand(target: string): string {
  const { CLUSTER } = process.env;
  return CLUSTER ? `CLUSTER=${CLUSTER} make ${target}` : `make ${target}`;
}

/** The path as a person types it: without the current folder. */
export function shortPath(path: string): string {
  return path.replace(`${process.cwd()}/`, "");
}
