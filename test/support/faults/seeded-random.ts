/** Numbers in [0, 1) that are equal for equal seeds (mulberry32), so that a run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The entries in an order that depends on the numbers alone. */
export function shuffled<T>(entries: readonly T[], random: () => number): T[] {
  const drawn = entries.map((entry) => ({ entry, place: random() }));
  return drawn.sort((one, other) => one.place - other.place).map(({ entry }) => entry);
}
