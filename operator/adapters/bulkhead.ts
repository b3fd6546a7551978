/** gRPC status codes of a service that is not there: no answer in time, no connection. */
const AWAY = [4, 14];

/**
 * Lets work through as long as the service answers in time, whatever it says. Once some found it away, one at a time goes
 * and looks whether it is back, and all others fail at once as the last one did: a service that hangs then holds up one
 * pass of the operator, and not every worker for as long as its calls may take.
 */
export function bulkhead(): <R>(work: () => Promise<R>) => Promise<R> {
  let failure: { readonly error: unknown } | undefined;
  let underWay = 0;
  return async (work) => {
    if (failure !== undefined && underWay > 0) throw failure.error;
    underWay += 1;
    try {
      const answer = await work();
      failure = undefined;
      return answer;
    } catch (error) {
      const { code } = error as { code?: unknown };
      // A failure of our own says nothing of the service.
      if (code !== undefined) failure = AWAY.some((away) => away === code) ? { error } : undefined;
      throw error;
    } finally {
      underWay -= 1;
    }
  };
}
