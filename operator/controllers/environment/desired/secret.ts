import type { Settings } from "../../../../config/settings.ts";
import { digestOf } from "../../../../crds/digest.ts";
import type { EphemeralEnvironment, SecretStatus } from "../../../../crds/environment/ephemeral-environment.ts";
import { oncePer } from "../../../../crds/once-per.ts";
import { roleBindingKind, secretKind } from "../../../kit/client/kinds.ts";
import type { DesiredObject } from "../../../ports/cluster.ts";
import type { StoredSecret } from "../../../ports/secret-manager.ts";
import { inNamespace, type Named } from "./namespace.ts";

/**
 * Name of the namespace Secret with these versions: it depends on the values, so it can be recomputed after a crash. A
 * rotation is left out, because it changes no value of the same version.
 */
export function podSecretName(secrets: readonly SecretStatus[]): string {
  const values = secrets.map(({ name, version, source = "" }) => [name, version, source]);
  const sorted = values.sort(([one = ""], [other = ""]) => (one < other ? -1 : 1));
  return `environment-secrets-${digestOf(sorted, 8)}`;
}

/** Encoding of a Secret's values. */
export const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Namespace Secret that pods should use. */
export function desiredPodSecret({ status }: EphemeralEnvironment): string {
  return status?.podSecrets?.at(-1) ?? podSecretName(status?.secrets ?? []);
}

/**
 * Values of the secret manager for the pods, immutable against edits; the name depends on the content, so new values
 * are a new object and restart its pods.
 */
export function secretObject(
  environment: EphemeralEnvironment,
  name: string,
  values: ReadonlyMap<string, StoredSecret>,
): DesiredObject {
  const encoded = [...values].map(([variable, { value }]) => [variable, base64(value.reveal())]);
  const data = Object.fromEntries(encoded);
  return inNamespace(environment, secretKind, name, { type: "Opaque", immutable: true, data });
}

/**
 * Lets the operator write Secrets and read pods in this namespace; it has that right in no other.
 *
 * @param finalizers keep the right while the namespace is deleted
 */
export function accessBindingObject(
  environment: Named,
  settings: Settings,
  finalizers: readonly string[] = [],
): DesiredObject {
  const binding = inNamespace(environment, roleBindingKind, ACCESS_BINDING, accessBinding(settings));
  return finalizers.length === 0 ? binding : { ...binding, metadata: { ...binding.metadata, finalizers } };
}

/** Name of the RoleBinding with the platform's rights in an environment's namespace. */
export const ACCESS_BINDING = "ephemeral-environment";

const accessBinding = oncePer(({ serviceAccount, namespace }: Settings) => ({
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "ephemeral-environment" },
  subjects: [{ kind: "ServiceAccount", name: serviceAccount, namespace }],
}));
