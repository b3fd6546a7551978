/** Works on all items, `atOnce` at a time. A failure begins nothing more, and rejects when running work has ended. */
export async function eachOf<T, R>(atOnce: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let index = 0; index < items.length; index += atOnce) {
    const settled = await Promise.allSettled(items.slice(index, index + atOnce).map(work));
    for (const outcome of settled) {
      if (outcome.status === "rejected") throw outcome.reason;
      results.push(outcome.value);
    }
  }
  return results;
}
