import type { CancelTimer, Clock } from "../time/clock.ts";

/** Reason for ending a watch from this side. */
export type WatchCut = "overdue" | "unconfirmed" | "stopped";

/** The watch delivers own writes within milliseconds; after 10 s the event was missed or merged into a later list. */
const LONGEST_CONFIRMATION_MS = 10_000;
const LOOK_EVERY_MS = 5_000;

export interface WatchSessionOptions {
  readonly clock: Clock;
  readonly deadlineMs: number;
  /** Wait of the oldest own write for its event. */
  readonly unconfirmedMs: () => number | undefined;
  readonly stop: AbortSignal;
}

/** Guards one watch: ends it when it is overdue, misses an own write, or must stop. */
export class WatchSession {
  readonly #options: WatchSessionOptions;
  readonly #controller = new AbortController();
  readonly #startedMs: number;
  readonly #onStop = () => this.#end("stopped");
  #cancel: CancelTimer = () => undefined;
  #cut: WatchCut | undefined;

  constructor(options: WatchSessionOptions) {
    this.#options = options;
    this.#startedMs = options.clock.monotonicMs();
    options.stop.addEventListener("abort", this.#onStop, { once: true });
    if (options.stop.aborted) this.#onStop();
    else this.#lookLater();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Undefined while the watch runs, and when it ended by itself. */
  get cut(): WatchCut | undefined {
    return this.#cut;
  }

  get ageMs(): number {
    return this.#options.clock.monotonicMs() - this.#startedMs;
  }

  release(): void {
    this.#cancel();
    this.#options.stop.removeEventListener("abort", this.#onStop);
  }

  #lookLater(): void {
    this.#cancel = this.#options.clock.setTimer(LOOK_EVERY_MS, () => {
      const reason = this.#reasonToEnd();
      if (reason === undefined) this.#lookLater();
      else this.#end(reason);
    });
  }

  #reasonToEnd(): WatchCut | undefined {
    if (this.ageMs >= this.#options.deadlineMs) return "overdue";
    return (this.#options.unconfirmedMs() ?? 0) > LONGEST_CONFIRMATION_MS ? "unconfirmed" : undefined;
  }

  #end(reason: WatchCut): void {
    this.#cut ??= reason;
    this.#controller.abort();
  }
}
