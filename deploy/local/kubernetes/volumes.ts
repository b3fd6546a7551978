import type { Manifest } from "./api-client.ts";

/** A claim for a volume, as far as its provisioning uses it. */
export interface VolumeClaim {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: {
    readonly storageClassName?: string;
    readonly accessModes: readonly string[];
    readonly resources: { readonly requests: { readonly storage: string } };
  };
  readonly status?: { readonly phase?: string };
}

const PROVISIONER = "ephemeral-environments.dev/local";

/** The local cluster's storage class, and its default. */
export const storageClass = {
  apiVersion: "storage.k8s.io/v1",
  kind: "StorageClass",
  metadata: { name: "local", annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
  provisioner: PROVISIONER,
  reclaimPolicy: "Delete",
  volumeBindingMode: "Immediate",
} as const satisfies Manifest;

/** The volume of one claim: an existing folder. Its size is not enforced. */
export function volumeObject({ metadata, spec }: VolumeClaim, path: string): Manifest {
  const { name, namespace, uid } = metadata;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    // Without the annotation, the controllers would look for a built-in deleter of host paths.
    metadata: { name: `pvc-${uid}`, annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
    spec: {
      capacity: { storage: spec.resources.requests.storage },
      accessModes: spec.accessModes,
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", name, namespace, uid },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: storageClass.metadata.name,
      hostPath: { path, type: "Directory" },
    },
  };
}
