/** Handler for `catch` that answers a value for a system error with one of these codes and rethrows any other error. */
export function onCode<T>(codes: readonly string[], answer: T): (error: unknown) => T {
  return (error) => {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? "")) return answer;
    throw error;
  };
}
