import { join } from "node:path";
import { type Progress, silentProgress } from "../../../deploy/build/progress.ts";
import { buildModule } from "../../../deploy/local/builds/build.ts";
import type { GoModule } from "../../../deploy/local/builds/modules.ts";

const module: GoModule = {
  name: "chart-checks",
  folder: "../../test/support/charts/go",
  target: "tool",
  buildSeconds: 60,
};

/** Paths of the programs that check charts. */
export interface ChartPrograms {
  readonly helmUnittest: string;
  /** Validates objects against the JSON Schemas of their kinds. */
  readonly kubeconform: string;
}

/** The programs, in the versions of their go.mod, built if they are not in the cache (a minute). */
export async function chartPrograms(progress: Progress = silentProgress): Promise<ChartPrograms> {
  const { programs } = await buildModule(module, progress);
  return { helmUnittest: join(programs, "helm-unittest"), kubeconform: join(programs, "kubeconform") };
}
