import { join } from "node:path";
import { builtModule } from "../builds/build.ts";
import { goModules } from "../builds/modules.ts";
import { findProgram } from "../prerequisites.ts";

/** Paths of kubectl and helm: from the PATH, else those built for a local cluster. Fails, naming the missing ones. */
export async function findPrograms(): Promise<{ kubectl: string; helm: string }> {
  const [kubectl, helm] = await Promise.all([find("kubectl"), find("helm")]);
  if (kubectl && helm) return { kubectl, helm };
  const missing = Object.entries({ kubectl, helm }).flatMap(([name, path]) => (path ? [] : [name]));
  throw new Error(`CLUSTER=existing needs kubectl and helm; install what is not on the PATH: ${missing.join(", ")}.`);
}

async function find(name: string): Promise<string | undefined> {
  const onPath = findProgram(name);
  if (onPath) return onPath;
  const built = await builtModule(goModules.controlplane);
  return built && join(built.programs, name);
}
