import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Manifest } from "../kubernetes/api-client.ts";
import { kubectl } from "../kubernetes/kubectl.ts";
import { definitionNames, type PlatformManifests } from "../platform/chart.ts";
import type { HostPlatform } from "../platform/programs.ts";

/** The manifests applied to a cluster; kept after `down`, for their deletion. */
export const manifestFile = (folder: string): string => join(folder, "platform.json");

/**
 * Applies the manifests of the platform's chart, and returns when its kinds are served. `manifestFile` lists them for
 * `kubectl delete`.
 *
 * Fields set otherwise by another field manager are a conflict and stay; the failure names them.
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

/** Objects in the order in which an API server accepts them. */
export function allObjects({ kinds, objects, policies }: PlatformManifests): Manifest[] {
  return [...kinds, ...objects, ...policies];
}
