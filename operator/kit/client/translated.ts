/**
 * What the call answers. An error of it that `translate` knows is thrown as the port's error; one that it answers
 * `undefined` for is thrown as it is.
 */
export async function translated<T>(
  call: () => Promise<T>,
  translate: (error: unknown) => Error | undefined,
): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw translate(error) ?? error;
  }
}
