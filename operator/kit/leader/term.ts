import type { WriteGuard } from "../client/write-guard.ts";

/** The time for which this process may reconcile: guards the client of the controllers. */
export interface Term extends WriteGuard {
  /** From now on writes are sent while `isLeading` says yes; before, it is as if it always did. */
  begin(isLeading: () => boolean): void;
  /** Cuts all calls, also those in flight. A term ends once. */
  end(): void;
}

/** A term that has not begun. */
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
