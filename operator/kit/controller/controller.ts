import { KubeError } from "../client/errors.ts";
import type { Log } from "../log.ts";
import { type Clock, MAX_TIMER_MS, pause, systemClock } from "../time/clock.ts";
import { type BoundedSignal, boundedSignal } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import { createWorkQueue, type Priority, type WorkQueue, type WorkQueueOptions } from "./work-queue.ts";

/** What a pass leaves to do: nothing, or another look after a while. */
export interface ReconcileResult {
  readonly requeueAfterMs?: number;
}

/** What a pass is given besides its key. */
export interface ReconcileContext {
  /** Aborts when the pass may do no more. */
  readonly signal: AbortSignal;
  /** An urgent look at that moment, whatever becomes of this pass and whatever else the key waits for until then. */
  promise(inMs: number): void;
}

/** One pass over one key. Throwing means: again, with backoff. Passes of one key never overlap. */
// biome-ignore lint/suspicious/noConfusingVoidType: a pass that leaves nothing to do simply returns
export type Reconcile = (key: string, pass: ReconcileContext) => Promise<ReconcileResult | void>;

export type ReconcileOutcome = "done" | "recheck" | "failed" | "timeout";

/** Where a controller counts; an adapter turns it into metrics. */
export interface ControllerMetrics {
  queueDepth(controller: string, depth: number): void;
  passed(controller: string, outcome: ReconcileOutcome, durationMs: number): void;
}

export interface Controller {
  /** Wants a pass over the key; before `start` it waits. Priority is `high` unless said. */
  enqueue(key: string, priority?: Priority): void;
  start(): void;
  /** Takes no new key, lets passes finish for `graceMs`, then aborts them; resolves when all have ended, or outlasted that by half a second. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  readonly depth: number;
  readonly inWork: number;
}

export interface ControllerOptions {
  readonly name: string;
  readonly reconcile: Reconcile;
  /** Passes at a time (default 8); a pass that lasts for more than a second leaves its place to another. */
  readonly workers?: number;
  /** After so long a pass is aborted and retried (default 60 s). */
  readonly deadlineMs?: number;
  readonly queue?: Omit<WorkQueueOptions, "clock" | "random" | "onDepth">;
  readonly log: Log;
  readonly metrics?: ControllerMetrics;
  readonly clock?: Clock;
  readonly random?: () => number;
}

/** A controller that waits for `start`. */
export function createController(options: ControllerOptions): Controller {
  return new KeyController(options);
}

/** What lasts so long waits for somebody else, and does next to no work meanwhile. */
const SLOW_PASS_MS = 1_000;
/** So many of them leave their places, for each worker: the API server, too, may be what is slow. */
const SLOW_PER_WORKER = 2;

/** Whatever hangs longer must not hold a hand-over up: its writes are cut by then. */
const LONGEST_ABORT_MS = 500;

class KeyController implements Controller {
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #log: Log;
  readonly #queue: WorkQueue;
  readonly #abort = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  readonly #count: number;
  /** Passes whose places others took. */
  #slow = 0;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#count = options.workers ?? 8;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#log = options.log.with({ controller: options.name });
    const onDepth = (depth: number) => options.metrics?.queueDepth(options.name, depth);
    this.#queue = createWorkQueue({ ...options.queue, clock: this.#clock, random: this.#random, onDepth });
  }

  enqueue(key: string, priority: Priority = "high"): void {
    this.#queue.add(key, priority);
  }

  start(): void {
    if (this.#workers.size > 0) throw new TypeError("a controller starts once");
    for (let worker = 0; worker < this.#count; worker += 1) this.#addWorker();
  }

  async stop({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#queue.close();
    const ended = new AbortController();
    const workers = Promise.all(this.#workers).finally(() => ended.abort());
    await Promise.race([workers, this.#cutShort(graceMs, ended.signal)]);
  }

  /** Resolves when the passes have had their grace, were aborted, and have still not ended. */
  async #cutShort(graceMs: number, ended: AbortSignal): Promise<void> {
    await pause(this.#clock, Math.min(graceMs, MAX_TIMER_MS), ended);
    this.#abort.abort();
    await pause(this.#clock, LONGEST_ABORT_MS, ended);
    if (!ended.aborted) this.#log.warn("passes outlast their end", { inWork: this.#queue.inWork });
  }

  get depth(): number {
    return this.#queue.depth;
  }

  get inWork(): number {
    return this.#queue.inWork;
  }

  #addWorker(): void {
    const worker = this.#work().finally(() => this.#workers.delete(worker));
    this.#workers.add(worker);
  }

  async #work(): Promise<void> {
    let isReplaced = false;
    while (!isReplaced) {
      const key = await this.#queue.take();
      if (key === undefined) return;
      const cancel = this.#clock.setTimer(SLOW_PASS_MS, () => {
        isReplaced = this.#replaced();
      });
      await this.#pass(key);
      cancel();
      this.#queue.done(key);
      await yieldIfDue();
    }
    this.#slow -= 1;
  }

  /** Whether another worker goes on in the place of one that a slow pass keeps. */
  #replaced(): boolean {
    if (this.#slow >= SLOW_PER_WORKER * this.#count) return false;
    this.#slow += 1;
    this.#addWorker();
    return true;
  }

  /** Never rejects: whatever a pass does, it costs its own key only. */
  async #pass(key: string): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    const bound = boundedSignal({
      clock: this.#clock,
      deadlineMs: this.#options.deadlineMs ?? 60_000,
      signals: [this.#abort.signal],
    });
    const outcome = await this.#outcome(key, bound);
    bound.release();
    this.#options.metrics?.passed(this.#options.name, outcome, this.#clock.monotonicMs() - startedMs);
  }

  async #outcome(key: string, bound: BoundedSignal): Promise<ReconcileOutcome> {
    try {
      const promise = (inMs: number) => this.#queue.addAfter(key, inMs, "urgent");
      const result = await this.#options.reconcile(key, { signal: bound.signal, promise });
      return this.#succeeded(key, result ?? {});
    } catch (error) {
      return this.#failed(key, error, bound);
    }
  }

  #succeeded(key: string, { requeueAfterMs }: ReconcileResult): ReconcileOutcome {
    this.#queue.forget(key);
    if (requeueAfterMs === undefined) return "done";
    this.#queue.addAfter(key, requeueAfterMs);
    return "recheck";
  }

  #failed(key: string, error: unknown, bound: BoundedSignal): ReconcileOutcome {
    if (bound.cutBy() === "caller") {
      this.#log.info("a pass was cut short by the stop", { key });
      return "failed";
    }
    const askedSeconds = error instanceof KubeError ? error.retryAfterSeconds : undefined;
    const retryInMs = Math.round(this.#queue.retry(key, (askedSeconds ?? 0) * 1000));
    this.#log.warn("a pass failed", { key, error, failures: this.#queue.failures(key), retryInMs });
    return bound.cutBy() === "deadline" ? "timeout" : "failed";
  }
}
