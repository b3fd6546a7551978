import { hash } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../build/run.ts";
import type { Pins } from "./pins.ts";

const DOWNLOAD = { deadlineMs: 10 * 60_000 };
const PROGRAM = "package/bin/node";

/**
 * Node's program as npm publishes it for this machine: downloaded, and compared with the registry's integrity. The lock file
 * can't name that package, because `node` downloads it by an install script.
 *
 * Fails when the registry can't be reached, or the package differs from its integrity.
 */
export async function publishedNode(version: string): Promise<Pins["node"]> {
  const name = `node-linux-${process.arch}`;
  const identifier = `${name}@${version}`;
  const folder = await mkdtemp(join(tmpdir(), "node-"));
  try {
    const integrity = (await run("npm", ["view", identifier, "dist.integrity"], DOWNLOAD)).trim();
    const packed = await run(
      "npm",
      ["pack", identifier, "--pack-destination", folder, "--loglevel", "error"],
      DOWNLOAD,
    );
    const sha256 = await programOf(join(folder, packed.trim()), integrity);
    return { version, package: name, integrity, sha256 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * The SHA-256 of Node's program in a package file. Fails when the file does not have the integrity (SHA-512 in npm's form).
 */
export async function programOf(file: string, integrity: string): Promise<string> {
  const found = hash("sha512", await readFile(file), "base64");
  if (`sha512-${found}` !== integrity) throw new Error(`${file} is not what npm publishes: its SHA-512 is ${found}`);
  const folder = await mkdtemp(join(tmpdir(), "node-"));
  try {
    await run("tar", ["-xzf", file, "-C", folder, PROGRAM], DOWNLOAD);
    const program = await readFile(join(folder, PROGRAM));
    return hash("sha256", program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
