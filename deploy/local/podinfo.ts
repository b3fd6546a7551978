import { chmod, cp, mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Progress } from "../build/progress.ts";
import { buildModule } from "./builds/build.ts";
import { podinfo, podinfoRedis } from "./builds/modules.ts";
import { clusterFolder } from "./folders.ts";

/** What podinfo is deployed from. */
export interface LaidOutPodinfo {
  /** The chart, as its author publishes it. */
  readonly chart: string;
  /** The root folders of two images: of podinfo, laid out as its Dockerfile does, and of a Redis that the chart can start. */
  readonly podinfo: string;
  readonly redis: string;
}

/** Builds podinfo and a Redis if they are not in the cache, and lays out below the cluster's state what they are deployed from. */
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
    // Links stay as they are: to the program beside them.
    await cp(source, target, { recursive: true, verbatimSymlinks: true });
  }
}
