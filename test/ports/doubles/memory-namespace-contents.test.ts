import { randomUUID } from "node:crypto";
import { namespaceKind, podKind, volumeClaimKind, volumeKind } from "../../../operator/kit/client/kinds.ts";
import { memoryCluster } from "../../support/doubles/memory/cluster.ts";
import { memoryNamespaceContents } from "../../support/doubles/memory/namespace-contents.ts";
import { configMaps } from "../../support/fixtures/config-maps.ts";
import { namespaceContentsSuite } from "../suites/namespace-contents.suite.ts";

namespaceContentsSuite("in memory", async () => {
  const cluster = memoryCluster();
  const contents = memoryNamespaceContents(cluster);
  const metadata = (ref: { name: string; namespace: string }) => ({
    ...ref,
    uid: randomUUID(),
    resourceVersion: "1",
    creationTimestamp: "2026-01-01T00:00:00Z",
  });
  const found = (kind: { plural: string }, ref: { name: string; namespace: string }) =>
    cluster
      .within(ref.namespace)
      .find((one) => one.kind.plural === kind.plural && one.object.metadata.name === ref.name);
  return {
    contents,
    makeNamespace: async () => undefined,
    async makeOwnedNamespace(name, owner) {
      await cluster.ensure(owner, namespaceKind, { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    },
    annotationsOf: async (name) =>
      cluster.list().find(({ kind, metadata: { name: found } }) => kind === namespaceKind.kind && found === name)
        ?.metadata.annotations ?? {},
    versionOf: async (name) =>
      cluster.list().find(({ kind, metadata: { name: found } }) => kind === namespaceKind.kind && found === name)
        ?.metadata.resourceVersion,
    overload(kind) {
      contents.overload(kind);
      return () => contents.overload(undefined);
    },
    async makeConfigMap(ref, finalizers) {
      cluster.put(configMaps, { apiVersion: "v1", kind: "ConfigMap", metadata: { ...metadata(ref), finalizers } });
    },
    finalizersOf: async (ref) => {
      const one = found(configMaps, ref);
      return one && (one.object.metadata.finalizers ?? []);
    },
    async deleteConfigMap(ref) {
      const { object } = found(configMaps, ref) ?? {};
      if (object === undefined) return;
      const deletionTimestamp = "2026-01-01T00:00:00Z";
      cluster.put(configMaps, { ...object, metadata: { ...object.metadata, deletionTimestamp } });
    },
    async refuseChanges({ name }, word) {
      contents.refuse(name, word);
      return async () => contents.refuse(name);
    },
    async makePod(ref, terminationGracePeriodSeconds) {
      const spec = { terminationGracePeriodSeconds };
      cluster.put(podKind, { apiVersion: "v1", kind: "Pod", metadata: metadata(ref), spec });
    },
    async deletePod(ref) {
      const { object } = found(podKind, ref) ?? {};
      if (object === undefined) return;
      const { terminationGracePeriodSeconds } = object.spec as { terminationGracePeriodSeconds: number };
      const grace = {
        deletionTimestamp: "2026-01-01T00:00:00Z",
        deletionGracePeriodSeconds: terminationGracePeriodSeconds,
      };
      cluster.put(podKind, { ...object, metadata: { ...object.metadata, ...grace } });
    },
    graceOf: async (ref) => found(podKind, ref)?.object.metadata.deletionGracePeriodSeconds,
    async makeVolume(ref, volumeName, persistentVolumeReclaimPolicy, annotations = {}) {
      const claim = { ...metadata(ref) };
      cluster.put(volumeClaimKind, {
        apiVersion: "v1",
        kind: "PersistentVolumeClaim",
        metadata: claim,
        spec: { volumeName },
      });
      const { namespace: _none, ...volume } = metadata({ name: volumeName, namespace: "" });
      const spec = { claimRef: { uid: claim.uid }, persistentVolumeReclaimPolicy };
      cluster.put(volumeKind, {
        apiVersion: "v1",
        kind: "PersistentVolume",
        metadata: { ...volume, annotations },
        spec,
      });
      return volume.uid;
    },
    async policyOf(name) {
      const volume = cluster.list().find((one) => one.kind === "PersistentVolume" && one.metadata.name === name);
      return (volume?.spec as { persistentVolumeReclaimPolicy?: string } | undefined)?.persistentVolumeReclaimPolicy;
    },
    stop: async () => undefined,
  };
});
