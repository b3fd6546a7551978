/** Progress of consecutive steps. */
export interface Estimate {
  readonly weights: readonly number[];
  /** The number of finished steps, and the second at which the last one finished. */
  readonly done: { readonly steps: number; readonly seconds: number };
  /** Seconds since the start of the first step. */
  readonly seconds: number;
  readonly processors: number;
}

/** The estimated duration of all steps in seconds, and the elapsed part of it. */
export interface Told {
  readonly seconds: number;
  readonly ofSeconds: number;
}

/**
 * Estimates the total from the weights and this machine's pace so far; before the first step is done, from the pace of the
 * measured machine with all processors busy. A step that exceeds its share moves the end; it is never reported as over.
 * Undefined when no step has a weight.
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
