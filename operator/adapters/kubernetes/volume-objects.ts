import { volumeClaimKind, volumeKind } from "../../kit/client/kinds.ts";
import { type KubeObject, type ResourceType, resourceType } from "../../kit/client/objects.ts";
import type { RetainedVolume } from "../../ports/namespace-contents.ts";

/** The part of a PersistentVolumeClaim that names its volume. */
export interface Claim extends KubeObject {
  readonly spec?: { readonly volumeName?: string };
}

/** The part of a PersistentVolume that says whose it is, and how long. https://kubernetes.io/docs/concepts/storage/persistent-volumes/ */
export interface Volume extends KubeObject {
  readonly spec?: { readonly claimRef?: { readonly uid?: string }; readonly persistentVolumeReclaimPolicy?: string };
}

export const claimType: ResourceType<Claim> = resourceType<Claim>(volumeClaimKind);
export const volumeType: ResourceType<Volume> = resourceType<Volume>(volumeKind);

/** Kubernetes chose this volume for a claim: nobody made it for that one, unless a provisioner did. */
const CHOSEN = "pv.kubernetes.io/bound-by-controller";
const PROVISIONED = "pv.kubernetes.io/provisioned-by";

/** The volume, where it is this claim's and outlives it. */
export function retainedVolumeOf(claim: Claim, { metadata, spec }: Volume): RetainedVolume | undefined {
  if (spec?.claimRef?.uid !== claim.metadata.uid || spec.persistentVolumeReclaimPolicy !== "Retain") return undefined;
  const { name, uid, annotations = {} } = metadata;
  const isMadeForClaim = !Object.hasOwn(annotations, CHOSEN) || Object.hasOwn(annotations, PROVISIONED);
  return { name, uid, isMadeForClaim };
}
