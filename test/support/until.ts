/**
 * Waits until `condition` answers something truthy, and answers that.
 *
 * It looks again after every turn of the event loop, with a short rest, and gives up after `deadlineMs` of real time.
 */
export async function until<R>(
  condition: () => R | Promise<R>,
  { deadlineMs = 5_000, what = "the condition" }: { readonly deadlineMs?: number; readonly what?: string } = {},
): Promise<NonNullable<R>> {
  const giveUpAtMs = performance.now() + deadlineMs;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (performance.now() > giveUpAtMs) throw new Error(`${what} did not come true within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
