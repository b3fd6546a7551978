/** Time from `fromMs` (inclusive) to `toMs` (exclusive), in milliseconds since 1970. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

export const DAY_MS = 86_400_000;

/** Start of the moment's day, in UTC. */
export const midnightOf = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;

/** True when the moment is in the period. */
export function isWithin({ fromMs, toMs }: Period, atMs: number): boolean {
  return atMs >= fromMs && atMs < toMs;
}
