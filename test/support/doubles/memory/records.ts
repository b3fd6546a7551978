import { newest, type RecordSpec } from "../../../../crds/environment/environment-record.ts";
import type { Records } from "../../../../operator/ports/records.ts";

export interface MemoryRecords extends Records {
  /** The kept records, in the order in which they were written. */
  list(): readonly RecordSpec[];
  fail(failure: Error | undefined): void;
  forget(): void;
}

/** In-memory records; fulfils `recordsSuite`. */
export function memoryRecords({ mostPruned = 1_000 } = {}): MemoryRecords {
  const byUid = new Map<string, RecordSpec>();
  let failure: Error | undefined;
  return {
    async keep(record) {
      if (failure !== undefined) throw failure;
      if (!byUid.has(record.uid)) byUid.set(record.uid, structuredClone(record));
    },
    async allocate(uid, allocations) {
      if (failure !== undefined) throw failure;
      const known = byUid.get(uid);
      if (known !== undefined) byUid.set(uid, { ...known, allocations: structuredClone(allocations) });
    },
    newestOf: async (name) => newest([...byUid.values()].filter((record) => record.name === name)),
    async prune({ atMost, notBefore }) {
      const sorted = [...byUid.values()].sort((one, other) => Date.parse(one.deletedAt) - Date.parse(other.deletedAt));
      const tooMany = sorted.length - atMost;
      const isSurplus = ({ deletedAt }: RecordSpec, at: number) => at < tooMany || Date.parse(deletedAt) < +notBefore;
      const surplus = sorted.filter(isSurplus);
      for (const { uid } of surplus.slice(0, mostPruned)) byUid.delete(uid);
      return { dropped: Math.min(surplus.length, mostPruned), isMoreLeft: surplus.length > mostPruned };
    },
    list: () => [...byUid.values()],
    fail(error) {
      failure = error;
    },
    forget: () => byUid.clear(),
  };
}
