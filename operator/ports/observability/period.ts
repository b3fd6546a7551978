/** From the first moment, up to but without the last one, in milliseconds since 1970. */
export interface Period {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whether the moment is in the period. */
export function isWithin({ fromMs, toMs }: Period, atMs: number): boolean {
  return atMs >= fromMs && atMs < toMs;
}
