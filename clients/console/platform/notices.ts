import { signal } from "@preact/signals";
import { requestIdOf, sentenceOf } from "./problems.ts";

/** A failure on the page until it is dismissed. */
export interface FailureNotice {
  readonly id: number;
  /** Title such as "shop could not be extended". */
  readonly title: string;
  readonly sentence: string;
  readonly requestId: string | undefined;
}

export const failures = signal<readonly FailureNotice[]>([]);
/** Last outcome, for `role=status`. */
export const outcome = signal("");

const OUTCOME_MS = 8_000;
let latest = 0;
let fading: ReturnType<typeof setTimeout> | undefined;

export function tellOutcome(text: string): void {
  outcome.value = text;
  clearTimeout(fading);
  fading = setTimeout(() => {
    outcome.value = "";
  }, OUTCOME_MS);
}

export function tellFailure(title: string, error: unknown): void {
  latest += 1;
  const failure = { id: latest, title, sentence: sentenceOf(error), requestId: requestIdOf(error) };
  failures.value = [...failures.value, failure];
}

export function dismiss(failure: FailureNotice): void {
  failures.value = failures.value.filter(({ id }) => id !== failure.id);
}

/** Reports the outcome of some work; true: it succeeded. */
export async function tell(work: Promise<unknown>, done: string, notDone: string): Promise<boolean> {
  try {
    await work;
    tellOutcome(done);
    return true;
  } catch (error) {
    tellFailure(notDone, error);
    return false;
  }
}
