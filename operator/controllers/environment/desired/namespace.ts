import type { EphemeralEnvironment } from "../../../../crds/environment/ephemeral-environment.ts";
import { namespaceName } from "../../../../crds/names.ts";
import { apiVersionOf, type ObjectRef, type ResourceType } from "../../../kit/client/objects.ts";
import type { DesiredObject } from "../../../ports/cluster.ts";

/** https://kubernetes.io/docs/concepts/security/pod-security-standards/: no privileged containers, none as root. */
const POD_SECURITY = {
  "pod-security.kubernetes.io/enforce": "restricted",
  "pod-security.kubernetes.io/audit": "restricted",
  "pod-security.kubernetes.io/warn": "restricted",
};

/** Namespace of the environment; Pod Security applies from its creation. */
export function namespaceObject({ metadata }: EphemeralEnvironment): DesiredObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: namespaceName(metadata.name), labels: POD_SECURITY },
  };
}

export type Named = { readonly metadata: Pick<EphemeralEnvironment["metadata"], "name"> };

/** Reference of an object in the environment's namespace. */
export function refIn({ metadata }: Named, name: string): Required<ObjectRef> {
  return { name, namespace: namespaceName(metadata.name) };
}

export function inNamespace(
  environment: Named,
  kind: ResourceType,
  name: string,
  fields: Readonly<Record<string, unknown>>,
): DesiredObject {
  return { apiVersion: apiVersionOf(kind), kind: kind.kind, metadata: refIn(environment, name), ...fields };
}
