/** One limit's counter: keys of two counters never meet. */
export interface Counter {
  readonly name: string;
  /** Of each key, from its first request on. */
  readonly windowMs: number;
}

/** The count of a key. */
export interface Count {
  /** Requests in the window, with this one. */
  readonly total: number;
  /** When the window ends, by the clock of this machine. */
  readonly endsAt: Date;
}

/** The shared counters can't be reached now: each replica counts for itself meanwhile. */
export class CountersUnavailable extends Error {
  override readonly name = "CountersUnavailable";

  constructor(options?: ErrorOptions) {
    super("the shared counters can't be reached", options);
  }
}

/** Counters of requests that all replicas share. */
export interface SharedCounters {
  /**
   * Counts one more request of a key.
   *
   * @throws CountersUnavailable after 100 ms at most; at once when they could not be reached a moment ago
   */
  increment(counter: Counter, key: string): Promise<Count>;

  /** Whether they can be reached now; answers after 100 ms at most and never rejects. */
  state(): Promise<"up" | "down">;
}
