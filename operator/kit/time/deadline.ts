import type { Clock } from "./clock.ts";

/** Cause of an early end. */
export type CutBy = "deadline" | "caller";

interface DeadlineOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Callers' signals: the first abort ends the work. */
  readonly signals?: readonly (AbortSignal | undefined)[];
}

/** A signal that aborts with a caller's or at a deadline; `release` frees all listeners. */
export interface BoundedSignal {
  readonly signal: AbortSignal;
  cutBy(): CutBy | undefined;
  /** Ends the deadline but still follows the caller: for running streams. */
  endDeadline(): void;
  /** Restarts the deadline: for work that must make progress. */
  restartDeadline(): void;
  release(): void;
}

/** Not AbortSignal.any: that keeps an entry per call on a long-lived caller's signal until garbage collection. */
export function boundedSignal({ clock, deadlineMs, signals = [] }: DeadlineOptions): BoundedSignal {
  const controller = new AbortController();
  let cut: CutBy | undefined;
  const cutBy = (by: CutBy) => {
    cut ??= by;
    controller.abort();
  };
  const byCaller = () => cutBy("caller");
  const setDeadline = () => clock.setTimer(deadlineMs, () => cutBy("deadline"));
  let endDeadline = setDeadline();
  for (const signal of signals) {
    if (signal?.aborted) byCaller();
    signal?.addEventListener("abort", byCaller, { once: true });
  }
  return {
    signal: controller.signal,
    cutBy: () => cut,
    endDeadline: () => endDeadline(),
    restartDeadline: () => {
      endDeadline();
      endDeadline = setDeadline();
    },
    release: () => {
      endDeadline();
      for (const signal of signals) signal?.removeEventListener("abort", byCaller);
    },
  };
}

/** Runs the work under such a signal, then releases it. */
export async function within<R>(options: DeadlineOptions, work: (bound: BoundedSignal) => Promise<R>): Promise<R> {
  const bound = boundedSignal(options);
  try {
    return await work(bound);
  } finally {
    bound.release();
  }
}

/** The result of `work`, or a rejection with the signal's reason on abort; `work` itself goes on. */
export async function orAborted<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
  const aborted = Promise.withResolvers<never>();
  const onAbort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
