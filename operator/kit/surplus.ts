/** How many things are kept. */
export interface KeptBounds {
  readonly atMost: number;
  /** Older ones go, however few there are. */
  readonly notBefore: Date;
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
