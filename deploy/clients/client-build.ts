import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { hashOfFiles } from "../build/folders.ts";

/** The build of a client. Paths are relative to the checkout. */
export interface ClientBuild {
  readonly name: string;
  /** Patterns of its source files. */
  readonly sources: readonly string[];
  readonly made: string;
  /** Builds the client; the file appears complete or not at all. */
  make(this: ClientBuild, checkout: string): Promise<void>;
}

const checkout = resolve(import.meta.dirname, "../..");
/** Further sources of every client: package versions and build code. */
const SHARED = ["package-lock.json", "deploy/clients/*.ts", "deploy/bundle/ascii.ts"];

/** Builds a missing or outdated client. @returns true when it was built */
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
