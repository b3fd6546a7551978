import { cp, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A package in a lock file of npm: https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json */
export interface Locked {
  readonly version?: string;
  /** An SPDX expression by the author. */
  readonly license?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

type Names = Readonly<Record<string, string>>;
/** Packages by folder, such as `node_modules/express`. */
export type Packages = Readonly<Record<string, Locked>>;

/** Packages of which only built files are served to browsers: their dependencies are not loaded. */
const SERVED = ["redoc", "swagger-ui-dist"];
/** Packages compiled into the command line and the web console; the process loads further ones of theirs. */
export const BUNDLED = ["@modelcontextprotocol/server", "@preact/signals", "@stricli/core", "preact", "preact-iso"];
/** Types, sources of compiled files, and add-ons for other runtimes. */
const NOT_LOADED = /\.(map|[cm]?tsx?|flow|bare)$/;

const checkout = join(import.meta.dirname, "../..");

/**
 * Lays out the layer of production dependencies below `root/app`, from the checkout's `node_modules`, without files that
 * Node does not load.
 *
 * Fails when the installed packages differ from the lock file.
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
      // Nested packages are copied as packages of their own.
      filter: (source) => !NOT_LOADED.test(source) && !source.endsWith("/node_modules"),
    });
  }
}

/** Sorted folders of the packages that the process may load. */
export const productionPackages = (packages: Packages): readonly string[] =>
  neededBy(dependenciesOf(packages[""]), packages);

/** Sorted folders of the packages compiled into the clients, with their dependencies. */
export const bundledPackages = (packages: Packages): readonly string[] => neededBy(BUNDLED, packages);

/** The folders of these packages, found from the checkout, and of all their dependencies. */
function neededBy(names: readonly string[], packages: Packages): readonly string[] {
  const found = new Set<string>();
  const follow = (required: readonly string[], from: string): void => {
    if (SERVED.some((name) => from === `node_modules/${name}`)) return;
    for (const name of required) {
      const place = placeOf(name, from, packages);
      if (place === undefined || found.has(place)) continue;
      found.add(place);
      follow(dependenciesOf(packages[place]), place);
    }
  };
  follow(names, "");
  return [...found].sort();
}

/** Names of a package's dependencies, without optional peers: a needed package is also a dependency. */
function dependenciesOf(locked: Locked = {}): readonly string[] {
  const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = locked;
  const peers = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta?.[name]?.optional);
  return [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers];
}

/**
 * The folder in which Node finds a package from within another one:
 * https://nodejs.org/api/modules.html#loading-from-node_modules-folders
 */
function placeOf(name: string, from: string, packages: Packages): string | undefined {
  const place = join(from, "node_modules", name);
  if (packages[place]) return place;
  if (from === "") return undefined;
  const above = from.lastIndexOf("node_modules/");
  return placeOf(name, from.slice(0, Math.max(0, above - 1)), packages);
}

/** Packages of `package-lock.json`, or of npm's copy beside the installed packages. */
export async function readPackages(file: "package-lock.json" | "node_modules/.package-lock.json"): Promise<Packages> {
  return (JSON.parse(await readFile(join(checkout, file), "utf8")) as { packages: Packages }).packages;
}
