import type { Settings } from "../../../config/settings.ts";
import type { EphemeralEnvironment } from "../../../crds/ephemeral-environment.ts";
import { namespaceName } from "../../../crds/names.ts";
import type { DesiredObject } from "../../ports/cluster.ts";
import type { StoredSecret } from "../../ports/secret-manager.ts";

/** The namespace Secret of a version. */
export function secretName(version: number): string {
  return `environment-secrets-${version}`;
}

/** The version that the status speaks of; the first one before anything was stored. */
export function currentVersion({ status }: EphemeralEnvironment): number {
  return Math.max(1, ...(status?.secrets ?? []).map(({ version }) => version));
}

/**
 * The secret manager's values as the pods see them. Immutable, so that an edit is refused; named by its version, so
 * that new values are a new object and restart the pods that name it.
 */
export function secretObject(
  { metadata }: EphemeralEnvironment,
  version: number,
  values: ReadonlyMap<string, StoredSecret>,
): DesiredObject {
  const encoded = [...values].map(([name, { value }]) => [name, Buffer.from(value.reveal()).toString("base64")]);
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: secretName(version), namespace: namespaceName(metadata.name) },
    type: "Opaque",
    immutable: true,
    data: Object.fromEntries(encoded),
  };
}

/** Lets the operator itself write Secrets and read pods in this one namespace; it has no such right anywhere else. */
export function accessBindingObject({ metadata }: EphemeralEnvironment, settings: Settings): DesiredObject {
  return {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "ephemeral-environment", namespace: namespaceName(metadata.name) },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" },
    subjects: [{ kind: "ServiceAccount", name: settings.serviceAccount, namespace: settings.namespace }],
  };
}
