import { readFile } from "node:fs/promises";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { machineArchitecture } from "../build/archive.ts";
import { type DebianPackage, debianPackage, PackageUnavailable } from "./debian.ts";

/** What an image of one architecture is made of besides our own packages; `make image-pins` writes it. */
export interface Pins {
  /** Debian's major version. */
  readonly debian: string;
  readonly packages: readonly DebianPackage[];
  readonly node: {
    readonly version: string;
    /** The npm package that it comes in. */
    readonly package: string;
    /** Of that package, as the registry states it. */
    readonly integrity: string;
    /** Of the program, in hexadecimal digits. */
    readonly sha256: string;
  };
}

/** Pins by architecture, as image specifications write it. */
export const pinsFile = join(import.meta.dirname, "pins.json");

/** The pins for this machine. Fails when there are none, or those of another Node than the project's. */
export async function readPins(): Promise<Pins> {
  const pins = JSON.parse(await readFile(pinsFile, "utf8")) as Record<string, Pins>;
  const own = pins[machineArchitecture()];
  if (!own)
    throw new Error(`Nothing is pinned for ${machineArchitecture()}; "make image-pins" on such a machine does it.`);
  const wanted = packageJson.devDependencies.node;
  if (own.node.version !== wanted)
    throw new Error(`Node ${own.node.version} is pinned, the project has ${wanted}: run "make image-pins".`);
  return own;
}

/** Why the image can't be built here through no fault of its own, in one sentence, or undefined when it can. Fetches what is pinned. */
export async function whyNoImage(): Promise<string | undefined> {
  try {
    for (const each of (await readPins()).packages) await debianPackage(each);
    return undefined;
  } catch (error) {
    if (error instanceof PackageUnavailable) return error.message;
    throw error;
  }
}
