import { PODS_ENDED_ANNOTATION } from "../../../../crds/group.ts";
import { namespaceName } from "../../../../crds/names.ts";
import {
  type Claim,
  retainedVolumeOf,
  type Volume,
} from "../../../../operator/adapters/kubernetes/namespace-contents.ts";
import { KubeError } from "../../../../operator/kit/client/errors.ts";
import { namespaceKind, podKind, volumeClaimKind, volumeKind } from "../../../../operator/kit/client/kinds.ts";
import type { NamespaceContents } from "../../../../operator/ports/namespace-contents.ts";
import type { MemoryCluster } from "./cluster.ts";

/** The contents of namespaces in memory, with counters and admission errors. */
export interface MemoryNamespaceContents extends NamespaceContents {
  lists(): number;
  /** Makes the removal of finalizers from this object fail with the sentence; without one it works again. */
  refuse(name: string, sentence?: string): void;
  /** Leaves this kind out of lists, as while its API is overloaded; `undefined` ends it. */
  overload(kind: string | undefined): void;
  /** Number of calls that were to mark a namespace. */
  announced(): number;
}

/** In-memory contents of a cluster's namespaces; evicted pods stay, as on a slow node. */
export function memoryNamespaceContents(cluster: MemoryCluster): MemoryNamespaceContents {
  const refusals = new Map<string, string | undefined>();
  let lists = 0;
  let announced = 0;
  let overloaded: string | undefined;
  const within = ({ name }: { name: string }) => cluster.within(namespaceName(name));
  const volumeNamed = (name: string | undefined) =>
    cluster.list().find(({ kind, metadata }) => kind === volumeKind.kind && metadata.name === name);
  return {
    lists: () => lists,
    announced: () => announced,
    refuse: (name, sentence) => void refusals.set(name, sentence),
    overload(kind) {
      overloaded = kind;
    },
    async list(environment) {
      lists += 1;
      const listed = within(environment).filter(({ kind }) => kind.kind !== overloaded);
      const contents = listed.map(({ kind, object: { metadata } }) => {
        const { name, uid, resourceVersion, finalizers = [], deletionTimestamp } = metadata;
        return { kind, name, uid, resourceVersion, finalizers, isDeleted: deletionTimestamp !== undefined };
      });
      return { contents, isComplete: overloaded === undefined };
    },
    async endPods(environment, graceSeconds) {
      const pods = within(environment).filter(({ kind }) => kind.plural === podKind.plural);
      for (const { kind, object } of pods) {
        const { terminationGracePeriodSeconds: own = graceSeconds } = (object.spec ?? {}) as PodSpec;
        const { deletionTimestamp = AT, deletionGracePeriodSeconds: requested = own } = object.metadata;
        const grace = { deletionTimestamp, deletionGracePeriodSeconds: Math.min(requested, graceSeconds) };
        cluster.put(kind, { ...object, metadata: { ...object.metadata, ...grace } });
      }
      return pods.length;
    },
    async release(environment, content, removable) {
      const { name, kind } = content;
      const refusal = refusals.get(name);
      if (refusal !== undefined) return refusal;
      const now = within(environment).find(({ object }) => object.metadata.uid === content.uid)?.object.metadata;
      if (now === undefined) return undefined;
      const kept = (now.finalizers ?? []).filter((finalizer) => !removable.includes(finalizer));
      cluster.hold(kind, { name, namespace: namespaceName(environment.name) }, kept);
      return undefined;
    },
    async announcePodsEnded(environment) {
      announced += 1;
      const ref = { name: namespaceName(environment.name) };
      const found = cluster.observe(environment, namespaceKind, ref);
      if (found === undefined || found.metadata.annotations?.[PODS_ENDED_ANNOTATION] !== undefined) return;
      cluster.annotate(namespaceKind, ref, { [PODS_ENDED_ANNOTATION]: AT });
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

const AT = "2026-01-01T00:00:00.000Z";

interface PodSpec {
  readonly terminationGracePeriodSeconds?: number;
}
