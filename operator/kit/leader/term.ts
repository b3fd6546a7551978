import type { WriteGuard } from "../client/write-guard.ts";

/** The time in which this process may reconcile: guards the controllers' client. */
export interface Term extends WriteGuard {
  /** Begins a term: from now on writes need `isLeading`; before, all are allowed. */
  begin(isLeading: () => boolean): void;
  end(): void;
}

export function createTerm(): Term {
  const ended = new AbortController();
  let mayWrite = () => true;
  return {
    signal: ended.signal,
    holds: () => mayWrite(),
    begin(isLeading) {
      mayWrite = isLeading;
    },
    end: () => ended.abort(),
  };
}
