import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Progress, silentProgress } from "../../build/progress.ts";
import { run } from "../../build/run.ts";
import { buildModule } from "../builds/build.ts";
import { goModules } from "../builds/modules.ts";
import { type Manifest, parseManifests } from "./api-client.ts";

/** One of our charts with its values. */
export interface ChartRelease {
  /** The chart's folder below deploy/charts. */
  readonly chart: "environment" | "platform";
  readonly release: string;
  readonly namespace: string;
  /** A text is YAML, used unchanged. */
  readonly values: object | string;
  /** The target Kubernetes version, as in /version (`gitVersion`). Default: the one that helm was built with. */
  readonly kubeVersion?: string | undefined;
  /** The cluster for the chart's lookups, as with `helm install`; existing objects count as its own. Default: none. */
  readonly kubeconfig?: string;
}

/** The local cluster's helm, built with its Kubernetes if it is not in the cache (minutes). */
export async function helmProgram(progress: Progress = silentProgress): Promise<string> {
  return join((await buildModule(goModules.controlplane, progress)).programs, "helm");
}

/** The objects of the chart with these values; `helm` is ours by default. Fails with helm's message. */
export async function renderChart(release: ChartRelease, helm?: string): Promise<Manifest[]> {
  return parseManifests(await withValues(release, "template", helm));
}

/** The output of helm's linter for the chart with these values, warnings included. Fails on an error. */
export function lintChart(release: ChartRelease): Promise<string> {
  return withValues(release, "lint");
}

async function withValues(release: ChartRelease, command: "template" | "lint", helm?: string): Promise<string> {
  const { chart, namespace, values, kubeVersion, kubeconfig } = release;
  const program = helm ?? (await helmProgram());
  const folder = await mkdtemp(join(tmpdir(), "ephemeral-chart-"));
  try {
    const file = join(folder, "values.json");
    await writeFile(file, typeof values === "string" ? values : JSON.stringify(values));
    const source = join(import.meta.dirname, "../../charts", chart);
    const name = command === "template" ? [release.release] : [];
    const target = kubeVersion === undefined ? [] : ["--kube-version", kubeVersion];
    const requested =
      kubeconfig === undefined ? [] : ["--dry-run=server", "--take-ownership", "--kubeconfig", kubeconfig];
    const given = ["--namespace", namespace, "--values", file, ...target, ...requested];
    return await run(program, [command, ...name, source, ...given]);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
