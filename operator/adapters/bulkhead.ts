/** gRPC status codes of a service that is not there: no answer in time, no connection. */
const AWAY: readonly unknown[] = [4, 14];

/** How the service was found away. */
interface Failure {
  readonly error: unknown;
}

/**
 * Lets work through as long as the service answers in time, whatever it says. Once some found it away, one at a time goes
 * and looks whether it is back, and all others fail at once as the last one did: a service that hangs then holds up one
 * pass of the operator, and not every worker for as long as its calls may take.
 */
export function bulkhead(): <R>(work: () => Promise<R>) => Promise<R> {
  let failure: Failure | undefined;
  let underWay = 0;
  return async (work) => {
    if (failure !== undefined && underWay > 0) throw failure.error;
    underWay += 1;
    try {
      const answer = await work();
      failure = undefined;
      return answer;
    } catch (error) {
      failure = learned(error, failure);
      throw error;
    } finally {
      underWay -= 1;
    }
  };
}

function learned(error: unknown, before: Failure | undefined): Failure | undefined {
  const { code } = error as { code?: unknown };
  // A failure of our own says nothing of the service.
  if (code === undefined) return before;
  return AWAY.includes(code) ? { error } : undefined;
}
