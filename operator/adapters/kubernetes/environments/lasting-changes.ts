import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { managedBy, writtenFromGit } from "../../../../crds/environment/managed-by.ts";
import { specFields } from "../../../../crds/environment/owned-fields.ts";
import { EnvironmentConflict } from "../../../../crds/errors.ts";
import type { KubeClient } from "../../../kit/client/kube-client.ts";
import type { LeftFields } from "../../../ports/left-fields.ts";
import type { Change } from "./changes.ts";
import { reread } from "./lookup.ts";

const TOOLS = { argocd: "Argo CD", flux: "Flux" } as const;

interface Context {
  readonly client: KubeClient;
  readonly leftFields: LeftFields;
}

/**
 * Refuses a change that Git would revert within seconds: of a field in the manifest that the GitOps tool does not leave
 * alone.
 *
 * @throws EnvironmentConflict which says where to change it
 */
export async function assertLasting(
  { client, leftFields }: Context,
  environment: EphemeralEnvironment,
  wanted: Change["spec"],
): Promise<void> {
  const tool = managedBy(environment);
  if (tool === undefined) return;
  // Caches drop `managedFields`.
  const fresh = await reread(client, environment);
  if (fresh === undefined) return;
  const fields = specFields(writtenFromGit(fresh));
  for (const { path, value } of valuesOf(wanted)) {
    const isChanged = (at(fresh.spec, path) ?? null) !== value;
    const isFromGit =
      at(
        fields,
        path.map((field) => `f:${field}`),
      ) !== undefined;
    if (!isChanged || !isFromGit || (await leftFields(fresh, path.join("/")))) continue;
    throw new EnvironmentConflict(
      `spec.${path.join(".")} comes from Git, and ${TOOLS[tool]} would take the change back: change it in the manifest, or take it out there`,
    );
  }
}

/** Values of a change, each with its path below the spec. */
function valuesOf(change: object, above: readonly string[] = []): { path: readonly string[]; value: unknown }[] {
  return Object.entries(change).flatMap(([field, value]) => {
    const path = [...above, field];
    if (value === undefined) return [];
    return typeof value === "object" && value !== null ? valuesOf(value, path) : [{ path, value }];
  });
}

function at(object: object, path: readonly string[]): unknown {
  return path.reduce<unknown>((found, field) => (found as Record<string, unknown> | undefined)?.[field], object);
}
