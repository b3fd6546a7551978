import { namespaceName } from "../../../../crds/names.ts";
import { type Claim, retainedVolumeOf, type Volume } from "../../../../operator/adapters/kubernetes/volume-objects.ts";
import { KubeError } from "../../../../operator/kit/client/errors.ts";
import { podKind, volumeClaimKind, volumeKind } from "../../../../operator/kit/client/kinds.ts";
import type { NamespaceContents } from "../../../../operator/ports/namespace-contents.ts";
import type { MemoryCluster } from "./cluster.ts";

/** The contents of namespaces in memory, and what a test counts of them or has an admission webhook do. */
export interface MemoryNamespaceContents extends NamespaceContents {
  /** How often a namespace was listed. */
  lists(): number;
  /** No finalizer can be taken off objects of this name, with this sentence; without one they can be again. */
  refuse(name: string, sentence?: string): void;
}

/** The contents of namespaces of a cluster in memory; pods that are asked to end stay, as on a node that is slow. */
export function memoryNamespaceContents(cluster: MemoryCluster): MemoryNamespaceContents {
  const refusals = new Map<string, string | undefined>();
  let lists = 0;
  const within = ({ name }: { name: string }) => cluster.within(namespaceName(name));
  const volumeNamed = (name: string | undefined) =>
    cluster.list().find(({ kind, metadata }) => kind === volumeKind.kind && metadata.name === name);
  return {
    lists: () => lists,
    refuse: (name, sentence) => void refusals.set(name, sentence),
    async list(environment) {
      lists += 1;
      return within(environment).map(({ kind, object: { metadata } }) => {
        const { name, uid, resourceVersion, finalizers = [] } = metadata;
        return { kind, name, uid, resourceVersion, finalizers };
      });
    },
    async endPods(environment, graceSeconds) {
      const pods = within(environment).filter(({ kind }) => kind.plural === podKind.plural);
      for (const { kind, object } of pods) {
        const { terminationGracePeriodSeconds: own = graceSeconds } = (object.spec ?? {}) as PodSpec;
        const { deletionTimestamp = AT, deletionGracePeriodSeconds: asked = own } = object.metadata;
        const grace = { deletionTimestamp, deletionGracePeriodSeconds: Math.min(asked, graceSeconds) };
        cluster.put(kind, { ...object, metadata: { ...object.metadata, ...grace } });
      }
      return pods.length;
    },
    async release(environment, content, unwanted) {
      const { name, kind } = content;
      const refusal = refusals.get(name);
      if (refusal !== undefined) return refusal;
      const now = within(environment).find(({ object }) => object.metadata.uid === content.uid)?.object.metadata;
      if (now === undefined) return undefined;
      const kept = (now.finalizers ?? []).filter((finalizer) => !unwanted.includes(finalizer));
      cluster.hold(kind, { name, namespace: namespaceName(environment.name) }, kept);
      return undefined;
    },
    async retainedVolumes(environment) {
      const claims = within(environment).filter(({ kind }) => kind.plural === volumeClaimKind.plural);
      return claims.flatMap(({ object }) => {
        const claim = object as unknown as Claim;
        const volume = volumeNamed(claim.spec?.volumeName);
        return (volume && retainedVolumeOf(claim, volume as unknown as Volume)) ?? [];
      });
    },
    async endWithClaim({ name, uid }) {
      const volume = volumeNamed(name);
      if (volume === undefined) return;
      if (volume.metadata.uid !== uid) throw new KubeError({ status: 422, reason: "Invalid" });
      const spec = { ...(volume.spec as object), persistentVolumeReclaimPolicy: "Delete" };
      cluster.put(volumeKind, { ...volume, spec });
    },
  };
}

const AT = "2026-01-01T00:00:00Z";

interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
}
