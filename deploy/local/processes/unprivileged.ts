import { chown, mkdir, readFile, writeFile } from "node:fs/promises";

/** A user and its group, by their numbers. */
export interface ProgramUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Users for programs that take orders over the network and need no rights of root. No account has these numbers: they lie
 * between those that systemd and distributions give away and `nobody` (https://systemd.io/UIDS-GIDS/). Each program has
 * one of its own, so that none can act on another, or on other programs that run as `nobody`.
 */
export const programUsers = {
  gitServer: { uid: 65_529, gid: 65_529 },
  gitea: { uid: 65_530, gid: 65_530 },
  repoServer: { uid: 65_531, gid: 65_531 },
} as const satisfies Record<string, ProgramUser>;

/** Makes a folder, if it is not there, that belongs to the user and that only this user and root may enter. */
export async function ownFolder(path: string, { uid, gid }: ProgramUser): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chown(path, uid, gid);
}

/** Copies a file for the user, who alone may then read it. */
export async function ownCopy(source: string, target: string, { uid, gid }: ProgramUser): Promise<void> {
  await writeFile(target, await readFile(source), { mode: 0o600 });
  await chown(target, uid, gid);
}
