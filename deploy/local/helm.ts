import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Manifest, parseManifests } from "./api-client.ts";
import { buildComponent, goComponents } from "./binaries.ts";
import { type Progress, silentProgress } from "./progress.ts";
import { run } from "./run.ts";

/** A chart of ours with what it is given. */
export interface ChartRelease {
  /** The chart's folder below deploy/charts. */
  readonly chart: "environment" | "platform";
  readonly release: string;
  readonly namespace: string;
  readonly values: object;
}

/** The helm that belongs to the local cluster, built now if it is not in the cache (a minute on a cold machine). */
export async function helmProgram(progress: Progress = silentProgress): Promise<string> {
  return join((await buildComponent(goComponents.helm, progress)).programs, "helm");
}

/** The objects that the chart becomes with these values. Fails with helm's own words when it refuses them. */
export async function renderChart(release: ChartRelease, progress?: Progress): Promise<Manifest[]> {
  return parseManifests(await withValues(release, "template", progress));
}

/** What helm's linter says of the chart with these values, warnings included. Fails when it finds an error. */
export function lintChart(release: ChartRelease, progress?: Progress): Promise<string> {
  return withValues(release, "lint", progress);
}

async function withValues(release: ChartRelease, command: "template" | "lint", progress?: Progress): Promise<string> {
  const { chart, namespace, values } = release;
  const helm = await helmProgram(progress);
  const folder = await mkdtemp(join(tmpdir(), "ephemeral-chart-"));
  try {
    const file = join(folder, "values.json");
    await writeFile(file, JSON.stringify(values));
    const source = join(import.meta.dirname, "../charts", chart);
    const name = command === "template" ? [release.release] : [];
    return await run(helm, [command, ...name, source, "--namespace", namespace, "--values", file]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
