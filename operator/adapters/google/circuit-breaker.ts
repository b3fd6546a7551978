import type { Clock } from "../../kit/time/clock.ts";
import type { CircuitBreakerState } from "../../ports/api/platform-health.ts";

/** gRPC status codes of an absent service: timeout, no connection. */
const AWAY: readonly unknown[] = [4, 14];

interface Failure {
  readonly error: unknown;
  /** Time of the first failure in a row. */
  readonly since: Date;
}

export type CircuitBreaker = ReturnType<typeof circuitBreaker>;

/**
 * Circuit breaker of a service, closed while any answer comes in time. Afterwards one call at a time tests the service,
 * and all others fail at once with the last error: a hanging service blocks one reconcile, not every worker.
 */
export function circuitBreaker(clock: Clock) {
  let closedSince = clock.now();
  let failure: Failure | undefined;
  let underWay = 0;
  const learn = (next: Failure | undefined) => {
    if (failure !== undefined && next === undefined) closedSince = clock.now();
    failure = next;
  };
  return {
    /** Runs the work, or fails at once with the last error. */
    async run<R>(work: () => Promise<R>): Promise<R> {
      if (failure !== undefined && underWay > 0) throw failure.error;
      underWay += 1;
      try {
        const answer = await work();
        learn(undefined);
        return answer;
      } catch (error) {
        learn(learned(error, failure, clock));
        throw error;
      } finally {
        underWay -= 1;
      }
    },
    state(): Omit<CircuitBreakerState, "name"> {
      if (failure === undefined) return { state: "closed", since: closedSince };
      return { state: underWay > 0 ? "half_open" : "open", since: failure.since };
    },
  };
}

function learned(error: unknown, before: Failure | undefined, clock: Clock): Failure | undefined {
  const { code } = error as { code?: unknown };
  // Our own failure says nothing about the service.
  if (code === undefined) return before;
  return AWAY.includes(code) ? { error, since: before?.since ?? clock.now() } : undefined;
}
