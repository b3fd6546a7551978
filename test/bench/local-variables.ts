import { readFileSync } from "node:fs";
import { resolve } from "node:path";

/**
 * The shell variables of the running local cluster, by name.
 *
 * @throws Error when there is none
 */
export function localVariables(): Readonly<Record<string, string>> {
  const file = resolve(import.meta.dirname, "../../.local/env");
  try {
    const text = readFileSync(file, "utf8");
    return Object.fromEntries([...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]));
  } catch (cause) {
    throw new Error("the local cluster is not running: start it with 'make up'", { cause });
  }
}
