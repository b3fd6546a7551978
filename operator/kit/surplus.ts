/** Bounds of kept things. */
export interface KeptBounds {
  readonly atMost: number;
  /** Older things go, however few there are. */
  readonly notBefore: Date;
}

/**
 * Greatest number of things that each owner may keep, so that the total stays within `atMost`.
 *
 * @param counts things per owner
 * @param atMost the total
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

/** Things in excess of the bounds, oldest first; `atMsOf` answers a thing's date, in milliseconds since 1970. */
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
