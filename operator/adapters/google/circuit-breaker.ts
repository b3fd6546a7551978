import type { Clock } from "../../kit/time/clock.ts";
import type { CircuitBreakerState } from "../../ports/facade/platform-health.ts";

/** gRPC status codes of a service that is not there: no answer in time, no connection. */
const AWAY: readonly unknown[] = [4, 14];

/** How the service was found away. */
interface Failure {
  readonly error: unknown;
  /** By the first of a row. */
  readonly since: Date;
}

/** A circuit breaker in front of a service. */
export interface CircuitBreaker {
  /** Does the work, or fails at once as the last work did that found the service away. */
  run<R>(work: () => Promise<R>): Promise<R>;
  state(): Omit<CircuitBreakerState, "name">;
}

/**
 * Lets work through as long as the service answers in time, whatever it says. Once some found it away, one at a time goes
 * and looks whether it is back, and all others fail at once as the last one did: a service that hangs then holds up one
 * pass of the operator, and not every worker for as long as its calls may take.
 */
export function circuitBreaker(clock: Pick<Clock, "now">): CircuitBreaker {
  let closedSince = clock.now();
  let failure: Failure | undefined;
  let underWay = 0;
  const learn = (next: Failure | undefined) => {
    if (failure !== undefined && next === undefined) closedSince = clock.now();
    failure = next;
  };
  return {
    async run(work) {
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
    state() {
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
