/** Keyed mutex: work of one key never overlaps, work of different keys never waits. */
export interface KeyedMutex {
  /**
   * Runs the work after all earlier work of the key, failed or not.
   *
   * @param work takes the outcome of the work just before, if that had to be waited for
   */
  run<T>(key: string, work: (before: PromiseSettledResult<unknown> | undefined) => Promise<T>): Promise<T>;
}

/** Keyed mutex within this process: a key costs nothing once its work is done. */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return {
    run(key, work) {
      const before = last.get(key);
      const running = (before === undefined ? Promise.resolve(undefined) : outcomeOf(before)).then(work);
      last.set(key, running);
      const forget = () => {
        if (last.get(key) === running) last.delete(key);
      };
      running.then(forget, forget);
      return running;
    },
  };
}

const outcomeOf = (work: Promise<unknown>): Promise<PromiseSettledResult<unknown>> =>
  work.then(
    (value) => ({ status: "fulfilled", value }),
    (reason: unknown) => ({ status: "rejected", reason }),
  );
