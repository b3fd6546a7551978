/** How many things are kept. */
export interface KeptBounds {
  readonly atMost: number;
  /** Older ones go, however few there are. */
  readonly notBefore: Date;
}

/**
 * The greatest number of things that each of several owners may keep, so that all of them together keep no more.
 *
 * @param counts how many things each has
 * @param atMost how many all of them may keep
 */
export function fairShare(counts: readonly number[], atMost: number): number {
  let left = atMost;
  for (const [index, count] of counts.toSorted((one, other) => one - other).entries()) {
    const share = Math.floor(left / (counts.length - index));
    if (count > share) return share;
    left -= count;
  }
  return atMost;
}

/**
 * What exceeds the bounds, oldest first.
 *
 * @param atMsOf the age of a thing, as milliseconds since 1970
 */
export function surplusOf<T>(
  things: readonly T[],
  atMsOf: (thing: T) => number,
  { atMost, notBefore }: KeptBounds,
): readonly T[] {
  const aged = things.map((thing) => ({ thing, atMs: atMsOf(thing) }));
  const oldestFirst = aged.sort((one, other) => one.atMs - other.atMs);
  const tooMany = oldestFirst.length - atMost;
  return oldestFirst
    .filter(({ atMs }, index) => index < tooMany || atMs < notBefore.getTime())
    .map(({ thing }) => thing);
}
