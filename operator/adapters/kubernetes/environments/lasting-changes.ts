import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { managedBy, writtenFromGit } from "../../../../crds/environment/managed-by.ts";
import type { Switches } from "../../../../crds/environment/manifest.schema.ts";
import { specFields } from "../../../../crds/environment/owned-fields.ts";
import { EnvironmentConflict } from "../../../../crds/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import type { LeftFields } from "../../../ports/left-fields.ts";
import { reread } from "./lookup.ts";

const TOOLS = { argocd: "Argo CD", flux: "Flux" } as const;

interface Context {
  readonly client: KubeClient;
  readonly leftFields: LeftFields;
}

/**
 * Refuses a change that Git would take back within seconds: one of a field that the manifest has, and that the GitOps tool
 * does not leave alone.
 *
 * @throws EnvironmentConflict which says where to change it
 */
export async function assertLasting(
  { client, leftFields }: Context,
  environment: EphemeralEnvironment,
  wanted: Switches,
): Promise<void> {
  const tool = managedBy(environment);
  if (tool === undefined) return;
  // Caches drop `managedFields`.
  const fresh = await reread(client, environment);
  if (fresh === undefined) return;
  const fields = specFields(writtenFromGit(fresh));
  for (const field of ["ttlHours", "protected", "suspended"] as const) {
    const isChanged = wanted[field] !== undefined && wanted[field] !== fresh.spec[field];
    if (!isChanged || !(`f:${field}` in fields) || (await leftFields(fresh, field))) continue;
    throw new EnvironmentConflict(
      `spec.${field} comes from Git, and ${TOOLS[tool]} would take the change back: change it in the manifest, or take it out there`,
    );
  }
}
