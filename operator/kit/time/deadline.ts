import type { Clock } from "./clock.ts";

/** Why a bounded piece of work was cut short. */
export type CutBy = "deadline" | "caller";

export interface DeadlineOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Of the callers: the first that aborts ends it. */
  readonly signals?: readonly (AbortSignal | undefined)[];
}

/** A signal that ends with a caller's or at a deadline, whichever is first; `release` lets go of all. */
export interface BoundedSignal {
  readonly signal: AbortSignal;
  cutBy(): CutBy | undefined;
  /** Ends the deadline but keeps following the caller: for streams, once they have begun. */
  endDeadline(): void;
  /** The deadline counts from now on: for work that must make progress. */
  restartDeadline(): void;
  release(): void;
}

/** Not AbortSignal.any: that keeps one entry a call on a long-lived caller's signal until the collector runs. */
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

/** Work under such a signal, which is let go when the work has ended. */
export async function within<R>(options: DeadlineOptions, work: (bound: BoundedSignal) => Promise<R>): Promise<R> {
  const bound = boundedSignal(options);
  try {
    return await work(bound);
  } finally {
    bound.release();
  }
}

/** The result of `work`, or a rejection with the signal's reason when that aborts first; `work` itself goes on. */
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
