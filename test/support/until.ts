interface Patience {
  readonly deadlineMs?: number;
  /** The rest between two looks, where a moment must not be missed or a look is dear. */
  readonly everyMs?: number;
  readonly what?: string;
}

const SHORTEST_REST_MS = 2;
const LONGEST_REST_MS = 25;
/** So much of the time that was waited is rested: looks that never end take the processor from what they wait for. */
const RESTED_SHARE = 0.02;

/**
 * Waits until `condition` answers something truthy, and answers that.
 *
 * It looks again after every turn of the event loop, with a rest of `everyMs`, or of 2 ms at first and 25 ms after a
 * second, and gives up after `deadlineMs` of real time.
 */
export async function until<R>(
  condition: () => R | Promise<R>,
  { deadlineMs = 20_000, everyMs, what = "the condition" }: Patience = {},
): Promise<NonNullable<R>> {
  const begunAtMs = performance.now();
  for (;;) {
    const result = await condition();
    if (result) return result;
    const waitedMs = performance.now() - begunAtMs;
    if (waitedMs > deadlineMs) throw new Error(`${what} did not come true within ${deadlineMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, everyMs ?? restAfter(waitedMs)));
  }
}

function restAfter(waitedMs: number): number {
  return Math.min(SHORTEST_REST_MS + RESTED_SHARE * waitedMs, LONGEST_REST_MS);
}
