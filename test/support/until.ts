interface Patience {
  readonly deadlineMs?: number;
  readonly everyMs?: number;
  readonly what?: string;
}

/**
 * Waits until `condition` answers something truthy, and answers that.
 *
 * It looks again after every turn of the event loop, with a rest of `everyMs`, and gives up after `deadlineMs` of real time.
 */
export async function until<R>(
  condition: () => R | Promise<R>,
  { deadlineMs = 5_000, everyMs = 2, what = "the condition" }: Patience = {},
): Promise<NonNullable<R>> {
  const giveUpAtMs = performance.now() + deadlineMs;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (performance.now() > giveUpAtMs) throw new Error(`${what} did not come true within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
