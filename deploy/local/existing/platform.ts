import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../kubernetes/api-client.ts";
import { kubectl } from "../kubernetes/kubectl.ts";
import { definitionNames, type PlatformManifests } from "../platform/chart.ts";
import type { HostPlatform } from "../platform/programs.ts";

/** The manifests that were applied to a cluster; kept after a `down`, for their deletion. */
export const manifestFile = (folder: string): string => join(folder, "platform.json");

/**
 * Applies the manifests of the platform's chart, and returns when its kinds are served. What it wrote stands in
 * `manifestFile`, which `kubectl delete` takes.
 *
 * Fields that another field manager has set otherwise are a conflict and stay as they are; the failure names them.
 */
export async function applyPlatform(
  { folder, administrator }: HostPlatform,
  manifests: PlatformManifests,
): Promise<void> {
  const file = manifestFile(folder);
  await mkdir(folder, { recursive: true });
  const items = allObjects(manifests);
  await writeFile(file, JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2));
  await kubectl(administrator, ["apply", "--server-side", `--filename=${file}`]);
  const definitions = definitionNames(manifests).map((name) => `crd/${name}`);
  await kubectl(administrator, ["wait", "--for=condition=Established", "--timeout=30s", ...definitions]);
}

/** The objects in the order in which an API server accepts them. */
export function allObjects({ kinds, objects, policies }: PlatformManifests): Manifest[] {
  return [...kinds, ...objects, ...policies];
}
