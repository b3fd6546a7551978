import { environmentKind } from "../../crds/ephemeral-environment.ts";
import { ENVIRONMENT_UID_LABEL } from "../../crds/group.ts";
import { podSecretName } from "../../operator/environment/desired/secret.ts";
import {
  applicationKind,
  appProjectKind,
  environmentType,
  limitRangeKind,
  namespaceKind,
  networkPolicyKind,
  resourceQuotaKind,
  roleBindingKind,
  secretKind,
  type WireObject,
} from "../../operator/kinds.ts";
import type { KubeClient } from "../../operator/kit/kube-client.ts";
import type { ResourceType } from "../../operator/kit/kube-object.ts";

/** Enough of an environment to know what belongs to it. */
export interface Identified {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** Every object of one environment, the resource itself included, by `Kind/name` (secret stores by `store/name`). */
export type Inventory = ReadonlyMap<string, WireObject>;

/** The kinds of which environments own objects, known by their UID label. */
export const LABELLED_KINDS: readonly ResourceType<WireObject>[] = [
  namespaceKind,
  resourceQuotaKind,
  limitRangeKind,
  networkPolicyKind,
  roleBindingKind,
  secretKind,
  applicationKind,
  appProjectKind,
];

/** What there is of an environment now, found by its UID alone: a second namespace or application would show. */
export async function inventoryOf(admin: KubeClient, { metadata }: Identified): Promise<Inventory> {
  const labelled = async (type: ResourceType<WireObject>) => {
    const { items } = await admin.list(type, { labelSelector: `${ENVIRONMENT_UID_LABEL}=${metadata.uid}` });
    return items.map((object): [string, WireObject] => [titleOf(type.kind, object), object]);
  };
  const own = await admin.find(environmentType as ResourceType, { name: metadata.name });
  const itself = own?.metadata.uid === metadata.uid ? [[titleOf(environmentKind.kind, own), own] as const] : [];
  return new Map([...itself, ...(await Promise.all(LABELLED_KINDS.map(labelled))).flat()] as [string, WireObject][]);
}

/** The pods' Secret of an environment that was just made of a Repository that lists no secrets of its own. */
export const FIRST_POD_SECRET = podSecretName(
  ["API_TOKEN", "DATABASE_PASSWORD", "SECRET_KEY"].map((name) => ({ name, version: 1 })),
);

/** What a ready environment of that name consists of: no more, no less. */
export function completeInventory({ metadata }: Identified): string[] {
  const { name, uid } = metadata;
  return [
    `EphemeralEnvironment/${name}`,
    `Namespace/env-${name}`,
    "ResourceQuota/environment",
    "ResourceQuota/priority-classes",
    "LimitRange/environment",
    "NetworkPolicy/allowed-traffic",
    "NetworkPolicy/default-deny",
    "RoleBinding/ephemeral-environment",
    `store/${name}-${uid.slice(0, 8)}`,
    `Secret/${FIRST_POD_SECRET}`,
    `Application/env-${name}`,
    `AppProject/env-${name}`,
  ].sort();
}

/** How an inventory names an object. */
export function titleOf(kind: string, { metadata }: { metadata: { name: string; namespace?: string } }): string {
  return metadata.namespace === "ephemeral-secrets" ? `store/${metadata.name}` : `${kind}/${metadata.name}`;
}
