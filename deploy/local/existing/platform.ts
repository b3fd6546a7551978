import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kubectl } from "../kubernetes/kubectl.ts";
import { definitionNames, renderPlatformChart } from "../platform/chart.ts";
import type { HostPlatform } from "../platform/programs.ts";

/** The manifests that were applied to a cluster; kept after a `down`, for their deletion. */
export const manifestFile = (folder: string): string => join(folder, "platform.json");

/**
 * Applies the platform chart without the operator's Deployment, and returns when its kinds are served. What it wrote
 * stands in `manifestFile`, which `kubectl delete` takes.
 *
 * `helm` renders it for the Kubernetes that calls itself `kubeVersion`. Fields that another field manager has set
 * otherwise are a conflict and stay as they are; the failure names them.
 */
export async function applyPlatform(
  platform: HostPlatform,
  { helm, kubeVersion }: { helm: string; kubeVersion: string },
): Promise<void> {
  const { folder, administrator, settings } = platform;
  const file = manifestFile(folder);
  const manifests = await renderPlatformChart(settings, helm, kubeVersion);
  const items = [...manifests.kinds, ...manifests.objects, ...manifests.policies];
  await mkdir(folder, { recursive: true });
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2));
  await kubectl(administrator, ["apply", "--server-side", `--filename=${file}`]);
  const definitions = definitionNames(manifests).map((name) => `crd/${name}`);
  await kubectl(administrator, ["wait", "--for=condition=Established", "--timeout=30s", ...definitions]);
}
