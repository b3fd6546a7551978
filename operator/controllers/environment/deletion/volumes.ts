/** Ends the volumes that would outlive their environment, or names them. */
import type { Settings } from "../../../../config/settings.ts";
import { roleBindingKind } from "../../../kit/client/kinds.ts";
import type { Cluster, Owner } from "../../../ports/cluster.ts";
import type { NamespaceContents } from "../../../ports/namespace-contents.ts";
import { refIn } from "../desired/namespace.ts";
import { ACCESS_BINDING } from "../desired/secret.ts";

/** Teardown step that ends or names retained volumes. */
export const VOLUMES_STEP = "volumes";

interface VolumesDependencies {
  readonly settings: Settings;
  readonly cluster: Cluster;
  readonly namespaceContents: NamespaceContents;
}

/**
 * Makes the retained volumes of an environment go with their claims, before these are deleted. A namespace without the
 * environment's RoleBinding is left alone: it may be another's.
 *
 * @returns names of the volumes that stay, by the settings or because they existed before their claims
 */
export async function endVolumes(
  environment: Owner,
  { cluster, namespaceContents, settings }: VolumesDependencies,
): Promise<readonly string[]> {
  const binding = await cluster.read(environment, roleBindingKind, refIn({ metadata: environment }, ACCESS_BINDING));
  if (binding === undefined) return [];
  const retained = await namespaceContents.retainedVolumes(environment);
  const ending = settings.deletion.retainedVolumes === "Retain" ? [] : retained.filter((one) => one.isMadeForClaim);
  await Promise.all(ending.map((volume) => namespaceContents.endWithClaim(volume)));
  return retained.filter((volume) => !ending.includes(volume)).map(({ name }) => name);
}
