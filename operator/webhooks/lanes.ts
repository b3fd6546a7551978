/** Work in turns: that of one key never overlaps, that of different keys never waits for each other. */
export interface Lanes {
  /** Runs the work when all work of the key that came before has ended, however it ended. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Lanes without work. Deliveries about one pull request take turns in one: each is stored before its turn, so that a
 * decision already knows all that came meanwhile, and the later ones find nothing left to do.
 */
export function createLanes(): Lanes {
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
