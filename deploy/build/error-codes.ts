/** For `catch`: an answer in place of a system error with one of these codes; any other error is thrown again. */
export function onCode<T>(codes: readonly string[], answer: T): (error: unknown) => T {
  return (error) => {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? "")) return answer;
    throw error;
  };
}
