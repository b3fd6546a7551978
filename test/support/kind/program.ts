import { join } from "node:path";
import { silentProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import type { GoModule } from "../../../deploy/local/builds/modules.ts";

const module: GoModule = { name: "kind", folder: "../../test/support/kind/go", target: "tool", buildSeconds: 15 };

/** The path of the real program kind, in the version of its go.mod, built if it is not in the cache (half a minute). */
export async function kindProgram(): Promise<string> {
  const { programs } = await buildModule(module, silentProgress);
  return join(programs, "kind");
}
