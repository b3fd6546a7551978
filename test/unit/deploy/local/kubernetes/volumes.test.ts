import { expect, test } from "@jest/globals";
import { storageClass, volumeObject } from "../../../../../deploy/local/kubernetes/volumes.ts";

test("a volume is for one claim, of the size that it requests, and is deleted with the claim", () => {
  const claim = {
    metadata: { name: "database", namespace: "env-shop", uid: "u-1" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
  };
  expect(volumeObject(claim, "/state/volumes/u-1")).toMatchObject({
    metadata: { name: "pvc-u-1", annotations: { "pv.kubernetes.io/provisioned-by": storageClass.provisioner } },
    spec: {
      capacity: { storage: "1Gi" },
      accessModes: ["ReadWriteOnce"],
      storageClassName: "local",
      claimRef: { name: "database", namespace: "env-shop", uid: "u-1" },
      persistentVolumeReclaimPolicy: "Delete",
      hostPath: { path: "/state/volumes/u-1" },
    },
  });
});
