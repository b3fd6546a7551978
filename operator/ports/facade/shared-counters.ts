/** One limit's counter: keys of two counters never meet. */
export interface Counter {
  readonly name: string;
  /** Of each key, from its first request on. */
  readonly windowMs: number;
}

/** How far a key has got. */
export interface Count {
  /** Requests in the window, with this one. */
  readonly total: number;
  /** When the window ends, by the clock of this machine. */
  readonly endsAt: Date;
}

/** The counters can't be had now: whoever counts goes on alone meanwhile. */
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
   * @throws CountersUnavailable after 100 ms at most; at once when they could not be had a moment ago
   */
  increment(counter: Counter, key: string): Promise<Count>;

  /** Whether they can be had, asked of them now; answers after 100 ms at most and never rejects. */
  state(): Promise<"up" | "down">;
}
