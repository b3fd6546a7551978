import { type Progress, planned } from "../../build/progress.ts";
import { type BuiltModule, buildModule, builtModule } from "./build.ts";
import { goModules } from "./modules.ts";
import { buildPostgresqlImage, isPostgresqlImageBuilt, postgresqlStep } from "./postgresql.ts";

/** Artifacts that the local cluster is built from. */
export interface Built extends Readonly<Record<keyof typeof goModules, BuiltModule>> {
  readonly postgresqlArchive: string;
}

/** Builds missing modules one after the other: each build uses every core. */
export async function buildAll(progress: Progress): Promise<Built> {
  const steps = planned(progress, await missingSteps());
  const built: [string, BuiltModule][] = [];
  for (const [key, module] of Object.entries(goModules)) built.push([key, await buildModule(module, steps)]);
  return {
    ...(Object.fromEntries(built) as Omit<Built, "postgresqlArchive">),
    postgresqlArchive: await buildPostgresqlImage(steps),
  };
}

/** The share of a whole build's work that remains, 0 to 1. */
export async function unbuiltShare(): Promise<number> {
  const workOf = (steps: readonly { readonly weight: number }[]) => steps.reduce((sum, { weight }) => sum + weight, 0);
  const all = Object.values(goModules).map(({ buildSeconds }) => ({ weight: buildSeconds }));
  return workOf(await missingSteps()) / workOf([...all, postgresqlStep]);
}

async function missingSteps() {
  const isBuilt = await Promise.all(Object.values(goModules).map(builtModule));
  const missing = Object.values(goModules).filter((_module, index) => !isBuilt[index]);
  const steps = missing.map(({ name, buildSeconds }) => ({ name: `build ${name}`, weight: buildSeconds }));
  return (await isPostgresqlImageBuilt()) ? steps : [...steps, postgresqlStep];
}
