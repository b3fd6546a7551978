/** How far steps are that run one after the other. */
export interface Estimate {
  /** About the processor seconds of each step. */
  readonly weights: readonly number[];
  /** How many of them are done, and after how many seconds the last one was. */
  readonly done: { readonly steps: number; readonly seconds: number };
  /** Seconds since the first began. */
  readonly seconds: number;
  readonly processors: number;
}

/** How long all steps take together, in seconds, and how much of it is over. */
export interface Told {
  readonly seconds: number;
  readonly ofSeconds: number;
}

/**
 * Estimates the whole by the weights and the pace of this machine so far; before the first step is done, by a machine that
 * keeps all its processors busy as fast as the one that was measured. A step that takes longer than its share moves the
 * end, and is never told to be over. Undefined when no step has a weight.
 */
export function estimate({ weights, done, seconds, processors }: Estimate): Told | undefined {
  const sum = (some: readonly number[]) => some.reduce((total, weight) => total + weight, 0);
  if (sum(weights) === 0) return undefined;
  const weightDone = sum(weights.slice(0, done.steps));
  const pace = weightDone > 0 ? done.seconds / weightDone : 1 / processors;
  const current = Math.max((weights[done.steps] ?? 0) * pace, seconds - done.seconds);
  return { seconds, ofSeconds: done.seconds + current + sum(weights.slice(done.steps + 1)) * pace };
}

/** `about 2 of 12 min`, below two minutes `about 20 of 70 s`. */
export function words({ seconds, ofSeconds }: Told): string {
  const isShort = ofSeconds < 120;
  const [unit, name] = isShort ? [10, "s"] : [60, "min"];
  const scale = isShort ? 10 : 1;
  return `about ${Math.floor(seconds / unit) * scale} of ${Math.ceil(ofSeconds / unit) * scale} ${name}`;
}
