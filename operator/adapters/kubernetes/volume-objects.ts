import { volumeClaimKind, volumeKind } from "../../kit/client/kinds.ts";
import { type KubeObject, type ResourceType, resourceType } from "../../kit/client/objects.ts";
import type { RetainedVolume } from "../../ports/namespace-contents.ts";

/** Used part of a PersistentVolumeClaim. */
export interface Claim extends KubeObject {
  readonly spec?: { readonly volumeName?: string };
}

/** Used part of a PersistentVolume. https://kubernetes.io/docs/concepts/storage/persistent-volumes/ */
export interface Volume extends KubeObject {
  readonly spec?: { readonly claimRef?: { readonly uid?: string }; readonly persistentVolumeReclaimPolicy?: string };
}

export const claimType: ResourceType<Claim> = resourceType<Claim>(volumeClaimKind);
export const volumeType: ResourceType<Volume> = resourceType<Volume>(volumeKind);

/** Kubernetes chose this volume for a claim: it existed before, unless a provisioner made it. */
const CHOSEN = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED = "pv.kubernetes.io/provisioned-by";

/** The volume, if it is this claim's and outlives it. */
export function retainedVolumeOf(claim: Claim, { metadata, spec }: Volume): RetainedVolume | undefined {
  if (spec?.claimRef?.uid !== claim.metadata.uid || spec.persistentVolumeReclaimPolicy !== "Retain") return undefined;
  const { name, uid, annotations = {} } = metadata;
  const isMadeForClaim = !Object.hasOwn(annotations, CHOSEN) || Object.hasOwn(annotations, PROVISIONED);
  return { name, uid, isMadeForClaim };
}
