/** A failed test, or a file or stage that could not run. */
export interface Failure {
  /** The test's full title; absent for the failure of a whole file or stage. */
  readonly title?: string;
  readonly message: string;
  /** True: the end of the stage's output has the cause, and is shown below the message. */
  readonly causeInOutput?: true;
}

/** Results of one test file, or of a stage without files. It crosses a process boundary as JSON. */
export interface Outcome {
  readonly stage: string;
  readonly file?: string;
  readonly passed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  readonly seconds?: number;
  readonly tests?: readonly { readonly title: string; readonly seconds: number }[];
}

/** An empty outcome. */
export function outcomeOf(stage: string, more: Partial<Outcome>): Outcome {
  return { stage, passed: 0, skipped: 0, failures: [], ...more };
}

/** The outcome of a stage that failed as a whole. */
export function failedStage(stage: string, failure: Failure): Outcome {
  return outcomeOf(stage, { failures: [failure] });
}

/** The outcome of a stage whose code threw. */
export function crashedStage(stage: string, error: unknown): Outcome {
  return failedStage(stage, { message: (error instanceof Error ? error.stack : undefined) ?? String(error) });
}

export function countOf(outcomes: readonly Outcome[]): { passed: number; failed: number; skipped: number } {
  return {
    passed: outcomes.reduce((sum, { passed }) => sum + passed, 0),
    failed: outcomes.reduce((sum, { failures }) => sum + failures.length, 0),
    skipped: outcomes.reduce((sum, { skipped }) => sum + skipped, 0),
  };
}
