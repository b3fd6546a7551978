import { readFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { machineArchitecture } from "../build/archive.ts";
import { type DebianPackage, debianPackage, PackageUnavailable } from "./debian.ts";

/** Ingredients of the image for one architecture, without our own packages; `make image-pins` writes them. */
export interface Pins {
  readonly debian: string;
  readonly packages: readonly DebianPackage[];
  readonly node: {
    readonly version: string;
    readonly package: string;
    /** Integrity of that package, from the registry. */
    readonly integrity: string;
    readonly sha256: string;
  };
}

/** Pins by architecture, named as in image specifications. */
export const pinsFile = join(import.meta.dirname, "pins.json");

/** The pins for this machine. Fails without any, or when they are for another Node than the project's. */
export async function readPins(): Promise<Pins> {
  const pins = JSON.parse(await readFile(pinsFile, "utf8")) as Record<string, Pins>;
  const own = pins[machineArchitecture()];
  if (!own)
    throw new Error(`Nothing is pinned for ${machineArchitecture()}; "make image-pins" on such a machine does it.`);
  const declared = packageJson.devDependencies.node;
  if (own.node.version !== declared)
    throw new Error(`Node ${own.node.version} is pinned, the project has ${declared}: run "make image-pins".`);
  return own;
}

/** The reason outside the image why it can't be built here, in one sentence, or undefined. Downloads the pinned packages. */
export async function whyNoImage(): Promise<string | undefined> {
  try {
    for (const each of (await readPins()).packages) await debianPackage(each);
    return undefined;
  } catch (error) {
    if (error instanceof PackageUnavailable) return error.message;
    throw error;
  }
}
