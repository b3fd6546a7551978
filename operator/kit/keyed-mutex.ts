/** Keyed mutex: work of one key never overlaps, work of different keys never waits. */
export interface KeyedMutex {
  /** Runs the work after all earlier work of the key, failed or not. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Keyed mutex for deliveries about one pull request: each is stored before its run, so that a decision knows all later
 * arrivals, which then find nothing to do.
 */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(key, work) {
      const before = last.get(key) ?? Promise.resolve();
      const running = before.then(work, work);
      last.set(key, running);
      const forget = () => {
        if (last.get(key) === running) last.delete(key);
      };
      running.then(forget, forget);
      return running;
    },
  };
}
