/**
 * What keeps calls from a service that was found away: `open` until the next call tries it, `half_open` while one does and
 * all others fail at once.
 */
export interface CircuitBreakerState {
  /** The service, and for whom it is called. */
  readonly name: string;
  readonly state: "closed" | "open" | "half_open";
  /** When the service was found away, or back; the start of the process before anything was. */
  readonly since: Date;
}

/** What a dependency is like now. */
export interface PlatformHealth {
  readonly datastore: { readonly healthy: boolean; readonly responseTimeMs: number; readonly lastCheck: Date };
  readonly cache: {
    readonly healthy: boolean;
    readonly responseTimeMs: number;
    /** Bytes of the process's heap in use. */
    readonly memoryBytes: number;
    /** What is read from it is not older; without end before the first complete list. */
    readonly ageMs: number;
    readonly lastCheck: Date;
  };
  readonly deployer: { readonly healthy: boolean; readonly applicationsSynced: number; readonly lastCheck: Date };
  /** Those of this process. */
  readonly circuitBreakers: readonly CircuitBreakerState[];
  /** Whether more environments are due at once than may be deleted unconfirmed: none is, until fewer are due or an admin confirms. */
  readonly expirationsBlocked: boolean;
}

/** Asks the platform's dependencies; answers are shared for 2 s, so that probes cost nothing. Never throws. */
export interface PlatformHealthCheck {
  check(): Promise<PlatformHealth>;
}
