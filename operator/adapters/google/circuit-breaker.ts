import type { Clock } from "../../kit/time/clock.ts";
import type { CircuitBreakerState } from "../../ports/facade/platform-health.ts";

/** gRPC status codes of a service that is not there: no answer in time, no connection. */
const AWAY: readonly unknown[] = [4, 14];

/** The failure that opened it. */
interface Failure {
  readonly error: unknown;
  /** The time of the first failure in a row. */
  readonly since: Date;
}

/** A circuit breaker in front of a service. */
export type CircuitBreaker = ReturnType<typeof circuitBreaker>;

/**
 * Closed while the service answers in time, whatever it answers. Once a call found the service away, one call at a time
 * tests whether it is back, and all others fail at once with the last error: a service that hangs then blocks one
 * reconcile, and not every worker until its deadline.
 */
export function circuitBreaker(clock: Pick<Clock, "now">) {
  let closedSince = clock.now();
  let failure: Failure | undefined;
  let underWay = 0;
  const learn = (next: Failure | undefined) => {
    if (failure !== undefined && next === undefined) closedSince = clock.now();
    failure = next;
  };
  return {
    /** Does the work, or fails at once with the last error that found the service away. */
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

function learned(error: unknown, before: Failure | undefined, clock: Pick<Clock, "now">): Failure | undefined {
  const { code } = error as { code?: unknown };
  // A failure of our own says nothing of the service.
  if (code === undefined) return before;
  return AWAY.includes(code) ? { error, since: before?.since ?? clock.now() } : undefined;
}
