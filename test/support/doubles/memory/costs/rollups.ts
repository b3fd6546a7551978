import type { PeriodSummary } from "../../../../../crds/usage/period-summary.ts";
import type { Rollup, SlotCounts } from "../../../../../crds/usage/rollup.ts";
import type { RollupStore, Rollups, StoredRollup } from "../../../../../operator/ports/rollups.ts";

export function memoryRollupStore(): RollupStore {
  const stored = new Map<string, StoredRollup>();
  let version = 0;
  const put = (day: string, { slots, writers, summary }: Rollup) => {
    version += 1;
    stored.set(day, { ...structuredClone({ slots, writers, summary }), day, version: String(version) });
    return true;
  };
  const isSame = ({ day, version: former }: StoredRollup) => stored.get(day)?.version === former;
  return {
    find: async (day) => stored.get(day),
    list: async () => [...stored.values()],
    create: async (day, content) => !stored.has(day) && put(day, content),
    replace: async (former, content) => isSame(former) && put(former.day, content),
    async remove(former) {
      if (isSame(former)) stored.delete(former.day);
    },
  };
}

export interface MemoryRollups extends Rollups {
  /** Adds counts to that slot, such as `09:35`. */
  add(day: string, slot: string, counts: SlotCounts): void;
  sumUp(day: string, summary: PeriodSummary): void;
}

export function memoryRollups(): MemoryRollups {
  const days = new Map<string, Record<string, SlotCounts>>();
  const summaries = new Map<string, PeriodSummary>();
  let summaryRevision = 0;
  return {
    get summaryRevision() {
      return summaryRevision;
    },
    days: () =>
      [...new Set([...days.keys(), ...summaries.keys()])].map((day) => ({
        day,
        slots: days.get(day) ?? {},
        summary: summaries.get(day),
      })),
    add(day, slot, counts) {
      days.set(day, { ...days.get(day), [slot]: counts });
    },
    sumUp(day, summary) {
      summaryRevision += 1;
      summaries.set(day, summary);
    },
  };
}
