import { chmod, cp, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Progress } from "../build/progress.ts";
import { buildModule } from "./builds/build.ts";
import { podinfo, podinfoRedis } from "./builds/modules.ts";
import { clusterFolder } from "./folders.ts";

/** Folders that podinfo is deployed from. */
export interface LaidOutPodinfo {
  /** The chart, as its author publishes it. */
  readonly chart: string;
  /** Root folders of two images: podinfo, laid out as in its Dockerfile, and a Redis for its chart. */
  readonly podinfo: string;
  readonly redis: string;
}

/**
 * Builds podinfo and a Redis if they are not in the cache, and lays out their deployment's files below the cluster's state.
 */
export async function layOutPodinfo(progress: Progress): Promise<LaidOutPodinfo> {
  const built = await buildModule(podinfo, progress);
  const cache = await buildModule(podinfoRedis, progress);
  const folder = join(clusterFolder, "podinfo");
  await rm(folder, { recursive: true, force: true });
  const layout = { chart: join(folder, "chart"), podinfo: join(folder, "podinfo"), redis: join(folder, "redis") };
  await copyAll([
    [join(built.files, "charts/podinfo"), layout.chart],
    [join(built.files, "ui"), join(layout.podinfo, "home/app/ui")],
    [join(built.programs, "podinfo"), join(layout.podinfo, "home/app/podinfo")],
    [join(built.programs, "podcli"), join(layout.podinfo, "usr/local/bin/podcli")],
    [cache.programs, join(layout.redis, "usr/local/bin")],
  ]);
  for (const root of [layout.podinfo, layout.redis]) await chmod(root, 0o755);
  return layout;
}

async function copyAll(copies: readonly (readonly [source: string, target: string])[]): Promise<void> {
  for (const [source, target] of copies) {
    await mkdir(dirname(target), { recursive: true });
    // Links stay relative, to the program beside them.
    await cp(source, target, { recursive: true, verbatimSymlinks: true });
  }
}
