import { mkdir, readFile } from "node:fs/promises";
import { run } from "../../build/run.ts";

/** A mounted file system, as in proc_pid_mounts(5). */
export interface Mount {
  readonly point: string;
  /** The file system's type, such as `tmpfs`. */
  readonly type: string;
}

/** The file systems of this process, in the order in which they were mounted. */
export async function currentMounts(): Promise<readonly Mount[]> {
  return mountsIn(await readFile("/proc/self/mounts", "utf8"));
}

/** The file systems in a text like /proc/self/mounts, which escapes blanks and backslashes as octal. */
export function mountsIn(text: string): readonly Mount[] {
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => {
    const [, point = "", type = ""] = line.split(" ").map(withoutEscapes);
    return { point, type };
  });
}

function withoutEscapes(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** True when something is mounted at exactly that path, which has no symbolic links. */
export async function isMounted(path: string): Promise<boolean> {
  return (await currentMounts()).some(({ point }) => point === path);
}

/**
 * Bind-mounts a folder, once, at a place for users without access to root's folders. Mounts below the place do not show in
 * the folder.
 */
export async function mountOnce(source: string, target: string): Promise<void> {
  if (await isMounted(target)) return;
  await mkdir(target, { recursive: true });
  await run("mount", ["--bind", "--make-private", source, target]);
}
