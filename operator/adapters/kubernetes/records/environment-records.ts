import {
  completeRecord,
  type EnvironmentRecord,
  newest,
  type RecordSpec,
  recordManifest,
} from "../../../../crds/environment/environment-record.ts";
import { ENVIRONMENT_NAME_LABEL } from "../../../../crds/group.ts";
import { insteadOf, isAlreadyExists, isNotFound } from "../../../kit/client/errors.ts";
import { surplusOf } from "../../../kit/surplus.ts";
import type { Caches } from "../../../ports/caches.ts";
import type { History, Records } from "../../../ports/records.ts";
import { recordType } from "../kinds.ts";
import type { UncachedStore } from "../store.ts";

/** Limit of one prune, so that none takes minutes; the next one continues. */
const MOST_PRUNED = 1_000;

/** Records port: one EnvironmentRecord each, in the platform's namespace, named by the environment's UID. */
export function kubernetesRecords({ client, namespace }: UncachedStore, mostPruned = MOST_PRUNED): Records {
  return {
    async keep(record) {
      await client.create(recordType, recordManifest(record, namespace)).catch(insteadOf(isAlreadyExists, undefined));
    },

    async allocate(uid, allocations) {
      const options = { as: "merge", subresource: "status" } as const;
      const patched = client.patch(recordType, { name: uid, namespace }, { status: { allocations } }, options);
      await patched.catch(insteadOf(isNotFound, undefined));
    },

    async newestOf(name) {
      const labelSelector = `${ENVIRONMENT_NAME_LABEL}=${name}`;
      const { items } = await client.list(recordType, { namespace, labelSelector });
      return newest(items.map(({ spec }) => spec));
    },

    async prune(bounds, signal) {
      const { items } = await client.list(recordType, { namespace, signal, keep: outline });
      const surplus = surplusOf(items, endedAtMs, bounds);
      let dropped = 0;
      for (const { metadata } of surplus.slice(0, mostPruned)) {
        if (signal.aborted) break;
        await client.delete(recordType, { name: metadata.name, namespace }, { uid: metadata.uid });
        dropped += 1;
      }
      return { dropped, isMoreLeft: dropped < surplus.length };
    },
  };
}

/** Fields for a prune: of ten thousand records only these are kept in memory. */
function outline({ metadata, spec }: EnvironmentRecord): EnvironmentRecord {
  const { name, uid, creationTimestamp } = metadata;
  return { metadata: { name, uid, creationTimestamp }, spec: { deletedAt: spec.deletedAt } } as EnvironmentRecord;
}

function endedAtMs({ metadata, spec }: EnvironmentRecord): number {
  return Date.parse(spec.deletedAt) || Date.parse(metadata.creationTimestamp);
}

/** History port on the watch caches; its revision rises with every change. */
export function watchedHistory({ environments, records }: Caches): History {
  let revision = 0;
  let known: readonly RecordSpec[] | undefined;
  environments.subscribe(() => {
    revision += 1;
  });
  records.subscribe(() => {
    revision += 1;
    known = undefined;
  });
  return {
    records() {
      known ??= records.list().map((record) => completeRecord(record));
      return known;
    },
    get revision() {
      return revision;
    },
  };
}
