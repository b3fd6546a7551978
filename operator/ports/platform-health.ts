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
}

/** Asks the platform's dependencies; answers are shared for 2 s, so that probes cost nothing. Never throws. */
export interface PlatformHealthCheck {
  check(): Promise<PlatformHealth>;
}
