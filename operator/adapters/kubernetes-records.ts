import { type EnvironmentRecord, recordManifest } from "../../crds/environment-record.ts";
import { recordType } from "../kinds.ts";
import type { KubeClient } from "../kit/kube-client.ts";
import { isAlreadyExists } from "../kit/kube-errors.ts";
import type { RecordBounds, Records } from "../ports/records.ts";

/** A prune that finds more than this leaves the rest to the next one. */
const MOST_PRUNED = 1_000;

interface Context {
  readonly client: KubeClient;
  readonly namespace: string;
}

/** The Records port: one EnvironmentRecord each, in the platform's own namespace, named by the environment's UID. */
export function kubernetesRecords({ client, namespace }: Context): Records {
  return {
    async keep(record) {
      try {
        await client.create(recordType, recordManifest(record, namespace));
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
      }
    },

    async prune(bounds, signal) {
      const { items } = await client.list(recordType, { namespace, signal });
      const surplus = beyond(items, bounds).slice(0, MOST_PRUNED);
      let dropped = 0;
      for (const { metadata } of surplus) {
        if (signal.aborted) break;
        await client.delete(recordType, { name: metadata.name, namespace }, { uid: metadata.uid });
        dropped += 1;
      }
      return dropped;
    },
  };
}

/** What exceeds the bounds, oldest first. */
function beyond(records: readonly EnvironmentRecord[], { atMost, notBefore }: RecordBounds): EnvironmentRecord[] {
  const age = ({ spec, metadata }: EnvironmentRecord) =>
    Date.parse(spec.deletedAt) || Date.parse(metadata.creationTimestamp);
  const sorted = [...records].sort((one, other) => age(one) - age(other));
  const tooMany = sorted.length - atMost;
  return sorted.filter((record, index) => index < tooMany || age(record) < notBefore.getTime());
}
