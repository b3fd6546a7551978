import type { RollupContent, RollupStore, StoredRollup } from "../../../../operator/ports/rollups.ts";

/** The RollupStore port in memory. */
export function memoryRollupStore(): RollupStore {
  const stored = new Map<string, StoredRollup>();
  let version = 0;
  const put = (day: string, { slots, writers }: RollupContent) => {
    version += 1;
    stored.set(day, { ...structuredClone({ slots, writers }), day, version: String(version) });
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
