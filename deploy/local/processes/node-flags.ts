import { join } from "node:path";

/**
 * The Node flags of the operator, in the image too. Ten thousand environments at the start leave garbage, for which V8 would
 * otherwise keep twice the needed memory; the operator returns the start's memory (`operator/start-memory.ts`).
 */
export const nodeFlags = ["--max-semi-space-size=16", "--heap-growing-percent=30", "--expose-gc"] as const;

/**
 * The variable by which Node caches compiled modules below the folder, so that a restart does not compile them again.
 * https://nodejs.org/api/module.html#module-compile-cache
 */
export const compileCacheIn = (folder: string) => ({ NODE_COMPILE_CACHE: join(folder, "node-compile-cache") });
