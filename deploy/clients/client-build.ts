import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hashOfFiles } from "../build/folders.ts";

/** What people use of the platform, as it is made from its sources. Paths are those of the checkout. */
export interface ClientBuild {
  readonly name: string;
  /** Patterns of the files that it is made from. */
  readonly sources: readonly string[];
  /** A file that is there when it is made. */
  readonly made: string;
  /** Makes it; the file appears complete or not at all. */
  make(this: ClientBuild, checkout: string): Promise<void>;
}

const checkout = resolve(import.meta.dirname, "../..");
/** These decide on what is made, too: the versions of packages, and how it is made. */
const SHARED = ["package-lock.json", "deploy/clients/*.ts", "deploy/bundle/ascii.ts"];

/** Makes what is missing or older than its sources. @returns whether it did */
export async function upToDate(client: ClientBuild): Promise<boolean> {
  const file = join(checkout, client.made);
  const hashFile = join(dirname(file), ".sources");
  const hash = await hashOfFiles(checkout, [...client.sources, ...SHARED]);
  const former = await readFile(hashFile, "utf8").catch(() => undefined);
  if (former === hash && existsSync(file)) return false;
  await mkdir(dirname(file), { recursive: true });
  await client.make(checkout);
  await writeFile(hashFile, hash);
  return true;
}
