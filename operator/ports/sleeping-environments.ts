import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";

/** Environments as the gate sees them: it reads them, and says that one was requested. */
export interface SleepingEnvironments {
  /** False before the first complete list: until then, an environment that is not found may exist. */
  readonly complete: boolean;
  find(name: string): EphemeralEnvironment | undefined;
  /** Resolves at the environment's next change, or after that time, or when the signal aborts. */
  untilChanged(name: string, longestMs: number, signal: AbortSignal): Promise<void>;
  /** Records that a host of it was requested at that time. Rejects when the API server does not take it. */
  recordRequest(environment: EphemeralEnvironment, at: Date): Promise<void>;
}
