import {
  type Counter,
  CountersUnavailable,
  type SharedCounters,
} from "../../../../operator/ports/api/shared-counters.ts";

export interface MemorySharedCounters extends SharedCounters {
  setReachable(reachable: boolean): void;
}

/** Counters of one process for all replicas of a test; fulfils `sharedCountersSuite`. */
export function memorySharedCounters(): MemorySharedCounters {
  const windows = new Map<string, { total: number; readonly endsAt: Date }>();
  let isReachable = true;
  const begun = ({ windowMs }: Counter) => ({ total: 0, endsAt: new Date(Date.now() + windowMs) });
  return {
    async increment(counter, key) {
      if (!isReachable) throw new CountersUnavailable();
      const id = `${counter.name}:${key}`;
      const known = windows.get(id);
      const window = known === undefined || known.endsAt.getTime() <= Date.now() ? begun(counter) : known;
      windows.set(id, window);
      window.total += 1;
      return { ...window };
    },
    state: async () => (isReachable ? "up" : "down"),
    setReachable(reachable) {
      isReachable = reachable;
    },
  };
}
