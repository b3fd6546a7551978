/** Counter of one limit; counters share no keys. */
export interface Counter {
  readonly name: string;
  /** Starts with a key's first request. */
  readonly windowMs: number;
}

/** The count of a key. */
export interface Count {
  /** Requests in the window, with this one. */
  readonly total: number;
  /** End of the window, by this machine's clock. */
  readonly endsAt: Date;
}

/** The shared counters are unreachable: each replica counts alone. */
export class CountersUnavailable extends Error {
  override readonly name = "CountersUnavailable";

  constructor(options?: ErrorOptions) {
    super("the shared counters can't be reached", options);
  }
}

/** Request counters shared by all replicas. */
export interface SharedCounters {
  /** Counts a request of a key. @throws CountersUnavailable within 100 ms; at once after a recent failure */
  increment(counter: Counter, key: string): Promise<Count>;
  /** State of the connection, within 100 ms; never rejects. */
  state(): Promise<"up" | "down">;
}
