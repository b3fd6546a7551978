/**
 * Answers the call's result. An error becomes the port's error where `translate` answers one; otherwise it is rethrown.
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
