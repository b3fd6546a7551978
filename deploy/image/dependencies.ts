import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A package in a lock file of npm: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json */
export interface Locked {
  readonly version?: string;
  /** An SPDX expression, as its author wrote it. */
  readonly license?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

type Names = Readonly<Record<string, string>>;
/** By their folders, such as `node_modules/express`. */
export type Packages = Readonly<Record<string, Locked>>;

/** Packages of which only finished files are served to browsers: what those were built from is not loaded. */
const SERVED = ["redoc", "swagger-ui-dist"];
/** Packages that are compiled into the command line and the web console. Others of theirs are loaded by the process, too. */
export const BUNDLED = ["@modelcontextprotocol/server", "@preact/signals", "@stricli/core", "preact", "preact-iso"];
/** Types, sources of compiled files, and add-ons for another runtime than Node. */
const NOT_LOADED = /\.(map|[cm]?tsx?|flow|bare)$/;

const checkout = join(import.meta.dirname, "../..");

/**
 * Lays out the layer of the production dependencies below `root/app`, from the checkout's `node_modules`, without what
 * Node does not load.
 *
 * Fails when what is installed is not what the lock file says.
 */
export async function layOutDependencies(root: string): Promise<void> {
  const locked = await readPackages("package-lock.json");
  const installed = await readPackages("node_modules/.package-lock.json");
  for (const folder of productionPackages(locked)) {
    if (installed[folder] === undefined && locked[folder]?.optional) continue;
    if (installed[folder]?.integrity !== locked[folder]?.integrity)
      throw new Error(`${folder} is not installed as package-lock.json says: run "make node_modules".`);
    await cp(join(checkout, folder), join(root, "app", folder), {
      recursive: true,
      // What lies below it is a package of its own, and comes by itself.
      filter: (source) => !NOT_LOADED.test(source) && !source.endsWith("/node_modules"),
    });
  }
}

/** The folders of the packages that the process may load, sorted. */
export const productionPackages = (packages: Packages): readonly string[] => neededBy(wantedBy(packages[""]), packages);

/** The folders of the packages that are compiled into the clients, with what they need, sorted. */
export const bundledPackages = (packages: Packages): readonly string[] => neededBy(BUNDLED, packages);

/** The folders of the packages that are found from the checkout by these names, and of all that they need. */
function neededBy(names: readonly string[], packages: Packages): readonly string[] {
  const found = new Set<string>();
  const follow = (wanted: readonly string[], from: string): void => {
    if (SERVED.some((name) => from === `node_modules/${name}`)) return;
    for (const name of wanted) {
      const place = placeOf(name, from, packages);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      follow(wantedBy(packages[place]), place);
    }
  };
  follow(names, "");
  return [...found].sort();
}

/** Without the optional peers: a package that is needed is also a dependency. */
function wantedBy(locked: Locked = {}): readonly string[] {
  const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = locked;
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/** Where Node finds a package from within another one's folder: https://nodejs.org/api/modules.html#loading-from-node_modules-folders */
function placeOf(name: string, from: string, packages: Packages): string | undefined {
  const place = join(from, "node_modules", name);
  if (packages[place]) return place;
  if (from === "") return undefined;
  const above = from.lastIndexOf("node_modules/");
  return placeOf(name, from.slice(0, Math.max(0, above - 1)), packages);
}

/** @param file `package-lock.json`, or what npm keeps beside the installed packages */
export async function readPackages(file: "package-lock.json" | "node_modules/.package-lock.json"): Promise<Packages> {
  return (JSON.parse(await readFile(join(checkout, file), "utf8")) as { packages: Packages }).packages;
}
