import { chown, mkdir, readFile, writeFile } from "node:fs/promises";

/** A user and its group, by their numbers. */
export interface ProgramUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Users for programs that serve the network without rights of root. No account has these numbers: they lie between the
 * ranges of systemd and distributions and `nobody` (https://systemd.io/UIDS-GIDS/). Each program has its own, so that none
 * can act on another or on programs of `nobody`.
 */
export const programUsers = {
  gitServer: { uid: 65_529, gid: 65_529 },
  gitea: { uid: 65_530, gid: 65_530 },
  repoServer: { uid: 65_531, gid: 65_531 },
} as const satisfies Record<string, ProgramUser>;

/** Makes a folder that belongs to the user and that only this user and root may enter. */
export async function ownFolder(path: string, { uid, gid }: ProgramUser): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  await chown(path, uid, gid);
}

/** Copies a file for the user, the only one who may read it. */
export async function ownCopy(source: string, target: string, { uid, gid }: ProgramUser): Promise<void> {
  await writeFile(target, await readFile(source), { mode: 0o600 });
  await chown(target, uid, gid);
}
