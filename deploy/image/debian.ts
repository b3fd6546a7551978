import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cacheRoot } from "../build/folders.ts";
import { findProgram, run } from "../build/run.ts";

/** A Debian package of exactly one content. */
export interface DebianPackage {
  readonly name: string;
  readonly version: string;
  /** Hexadecimal digest of the package file. */
  readonly sha256: string;
}

/** A package is not available here, for a reason outside the image. */
export class PackageUnavailable extends Error {}

const DOWNLOAD = { deadlineMs: 10 * 60_000 };
/** Otherwise apt downloads as another user, who can't enter every folder. */
const asOurselves = ["-o", "APT::Sandbox::User=root"];

/**
 * The file of a package, from the cache or from this machine's package sources, refreshed when they lack it.
 *
 * Fails with `PackageUnavailable` without apt, or when the sources no longer have that version; and when the content differs
 * from the pinned one.
 */
export async function debianPackage(pinned: DebianPackage): Promise<string> {
  const folder = join(cacheRoot(), "debian");
  const target = join(folder, `${pinned.sha256}.deb`);
  if (existsSync(target)) return target;
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, "unfinished-"));
  try {
    const file = await download(pinned, work);
    const sha256 = hash("sha256", await readFile(file));
    if (sha256 !== pinned.sha256)
      throw new Error(`${pinned.name} ${pinned.version} is not what is pinned: its SHA-256 is ${sha256}`);
    await rename(file, target);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download({ name, version }: DebianPackage, folder: string): Promise<string> {
  if (!findProgram("apt-get"))
    throw new PackageUnavailable("The image's libraries are Debian's, and this machine has no apt-get to fetch them.");
  const fetched = () =>
    run("apt-get", [...asOurselves, "--quiet", "download", `${name}=${version}`], { ...DOWNLOAD, cwd: folder });
  try {
    await fetched().catch(async () => {
      // The lists may be old; only root can refresh them.
      if (process.getuid?.() === 0) await run("apt-get", ["--quiet", "update"], DOWNLOAD);
      await fetched();
    });
  } catch (cause) {
    throw new PackageUnavailable(
      `The package sources of this machine don't have ${name} ${version}. If Debian has replaced it, "make image-pins" pins what it has now; the image then is another one.`,
      { cause },
    );
  }
  const [file = ""] = await readdir(folder);
  return join(folder, file);
}

/** Unpacks a package's files, without running its scripts. */
export async function unpack(file: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await run("dpkg-deb", ["--extract", file, folder]);
}

/** A package's own metadata, in the form that vulnerability scanners read. */
export function control(file: string): Promise<string> {
  return run("dpkg-deb", ["--field", file]);
}

/** The current version of a package in this machine's sources, with its hash. */
export async function newestPackage(name: string): Promise<DebianPackage> {
  const record = await run("apt-cache", ["show", "--no-all-versions", name]);
  const field = (key: string) => new RegExp(`^${key}: (.+)$`, "m").exec(record)?.[1];
  const [version, sha256] = [field("Version"), field("SHA256")];
  if (!version || !sha256) throw new Error(`the package sources of this machine have no ${name} with a hash`);
  return { name, version, sha256 };
}
