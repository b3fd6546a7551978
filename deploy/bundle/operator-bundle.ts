import { existsSync } from "node:fs";
import { mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { hashOfFiles, intoCache, onlyHere } from "../build/folders.ts";
import { inAscii } from "./ascii.ts";

const checkout = resolve(import.meta.dirname, "../..");

/** The file of a bundle that Node starts with. */
export const BUNDLE_MAIN = "main.mjs";

/** Patterns of the files that determine the bundle, below the checkout. */
export const bundleSources = [
  "{api,config,crds,operator}/**/*.{ts,json}",
  "package.json",
  // Determines the packages' versions.
  "package-lock.json",
  "deploy/bundle/*.ts",
];

/** Packages that read files beside their own modules; loaded from their folders, as without a bundle. */
const UNBUNDLED = [/^@google-cloud\//];

/** Number of kept bundles: a running process loads some files late. */
const KEPT = 5;

/**
 * The operator's program with all its imports, in a few files of plain JavaScript, as in the image: finding, stripping and
 * compiling some three thousand modules takes most of the start.
 *
 * Rebuilt after a change of sources. Answers the path of the file that Node starts with.
 */
export async function operatorBundle(parent = join(checkout, "dist")): Promise<string> {
  const name = `operator-${await hashOfFiles(checkout, bundleSources)}`;
  const folder = join(parent, name);
  const make = async () => {
    if (existsSync(folder)) return;
    await intoCache(folder, async (unfinished) => void (await bundleOperator(unfinished)));
    await removeOld(parent);
  };
  if (!existsSync(folder)) await onlyHere(name, make);
  return join(folder, BUNDLE_MAIN);
}

/** The contents of a bundle. */
export interface OperatorBundle {
  readonly modules: readonly string[];
  /** Imported packages outside the bundle, without Node's own modules. */
  readonly packages: readonly string[];
}

/**
 * Writes the bundle into the folder. The same sources give the same bytes.
 *
 * @param folder two folders below that of `node_modules` and `clients`, where modules look for these
 */
export async function bundleOperator(folder: string): Promise<OperatorBundle> {
  // Loaded on demand: most starts find a bundle.
  const { rolldown } = await import("rolldown");
  const bundle = await rolldown({
    input: join(checkout, "operator/main.ts"),
    cwd: checkout,
    platform: "node",
    tsconfig: false,
    external: UNBUNDLED,
    checks: { pluginTimings: false },
  });
  try {
    // Not minified, which would save nothing: stack traces name functions, and each module begins with its file's name.
    const names = { entryFileNames: BUNDLE_MAIN, chunkFileNames: "[name]-[hash].mjs" };
    const { output } = await bundle.generate({ format: "esm", ...names });
    const chunks = output.filter((file) => file.type === "chunk");
    await mkdir(folder, { recursive: true });
    for (const { fileName, code } of chunks) await writeFile(join(folder, fileName), inAscii(code));
    const imported = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
    const own = chunks.map(({ fileName }) => fileName);
    return {
      modules: chunks.flatMap(({ moduleIds }) => moduleIds),
      packages: [...new Set(imported)].filter((name) => !isBuiltin(name) && !own.includes(name)),
    };
  } finally {
    await bundle.close();
  }
}

async function removeOld(parent: string): Promise<void> {
  const folders = (await readdir(parent))
    .filter((name) => name.startsWith("operator-"))
    .map((name) => join(parent, name));
  const madeAt = new Map<string, number>();
  for (const folder of folders) madeAt.set(folder, (await stat(folder)).mtimeMs);
  const newestFirst = folders.sort((one, other) => (madeAt.get(other) ?? 0) - (madeAt.get(one) ?? 0));
  for (const folder of newestFirst.slice(KEPT)) await rm(folder, { recursive: true, force: true });
}

/**
 * The Node flags of the operator, in the image too. Ten thousand environments that come in at the start leave garbage, for
 * which V8 would otherwise keep twice the room that it needs; and the operator gives back what its start needed
 * (`operator/start-memory.ts`).
 */
export const nodeFlags = ["--max-semi-space-size=16", "--heap-growing-percent=30", "--expose-gc"] as const;

/**
 * The variable that has Node keep compiled modules below the folder, so that a restart does not compile them again.
 * https://nodejs.org/api/module.html#module-compile-cache
 */
export const compileCacheIn = (folder: string) => ({ NODE_COMPILE_CACHE: join(folder, "node-compile-cache") });
