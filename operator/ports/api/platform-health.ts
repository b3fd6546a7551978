/** Circuit breaker: `open` until the next call tries the service, `half_open` during it, while others fail at once. */
export interface CircuitBreakerState {
  /** The service and its caller. */
  readonly name: string;
  readonly state: "closed" | "open" | "half_open";
  /** Time of the last change; initially the start of the process. */
  readonly since: Date;
}

/** State of the dependencies. */
export interface PlatformHealth {
  readonly datastore: { readonly healthy: boolean; readonly responseTimeMs: number; readonly lastCheck: Date };
  readonly cache: {
    readonly healthy: boolean;
    readonly responseTimeMs: number;
    /** Used bytes of the process's heap. */
    readonly memoryBytes: number;
    /** Greatest age of reads; infinite before the first complete list. */
    readonly ageMs: number;
    readonly lastCheck: Date;
  };
  readonly deployer: { readonly healthy: boolean; readonly applicationsSynced: number; readonly lastCheck: Date };
  /** Circuit breakers of this process. */
  readonly circuitBreakers: readonly CircuitBreakerState[];
  /**
   * True when more environments are due than may be deleted unconfirmed: none is, until fewer are due or an admin
   * confirms.
   */
  readonly expirationsBlocked: boolean;
}

/** Checks the platform's dependencies; results are shared for 2 s, so that probes cost nothing. Never throws. */
export interface PlatformHealthCheck {
  check(): Promise<PlatformHealth>;
}
