import { randomUUID } from "node:crypto";
import { KubeError } from "../client/errors.ts";
import { type Log, withLogFacts } from "../log.ts";
import { type Clock, MAX_TIMER_MS, pause } from "../time/clock.ts";
import { type BoundedSignal, boundedSignal } from "../time/deadline.ts";
import { yieldIfDue } from "../time/yield-if-due.ts";
import { noTracing, type SpanAttributes, type Tracing } from "../tracing.ts";
import type {
  Controller,
  ControllerMetrics,
  PoolMetrics,
  PoolState,
  Priority,
  ReconcileOutcome,
  ReconcileResult,
} from "./controller.ts";
import { WorkQueue } from "./work-queue.ts";

/** Shared by all controllers of a process. */
export interface WorkerPoolContext {
  readonly log: Log;
  readonly metrics?: ControllerMetrics | undefined;
  readonly tracing?: Tracing;
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** The part of a controller that a pool uses; the manager queues its keys. */
export type Worked = Omit<Controller, "watches" | "initialKeys">;

/** A reconcile this long is waiting for something else and does next to no work. */
const SLOW_MS = 1_000;
/** Slow reconciles per worker that free their slot: limited, because the API server itself may be slow. */
const SLOW_PER_WORKER = 2;

/** A reconcile that hangs longer must not delay the next leader: its writes are refused by then. */
const LONGEST_ABORT_MS = 500;

const DEADLINE_MS = 60_000;

const FAILURES: readonly ReconcileOutcome[] = ["failed", "panic", "timeout"];

/** Errors of the language; deliberate errors have their own types. */
const BUGS = [TypeError, ReferenceError, RangeError, SyntaxError];

/** Workers of one controller and their queue. */
export class WorkerPool implements PoolState {
  readonly #controller: Worked;
  readonly #metrics: PoolMetrics | undefined;
  readonly #tracing: Tracing;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #queue: WorkQueue;
  readonly #abort = new AbortController();
  readonly #workers = new Set<Promise<void>>();
  /** Slow reconciles whose slots other workers took. */
  #slow = 0;

  constructor(controller: Worked, { log, metrics, tracing = noTracing, clock, random }: WorkerPoolContext) {
    this.#controller = controller;
    this.#clock = clock;
    this.#tracing = tracing;
    this.#log = log.with({ controller: controller.name });
    this.#metrics = metrics?.of(controller, this);
    this.#queue = new WorkQueue({ backoffMs: controller.backoffMs, clock, random, metrics: this.#metrics });
  }

  /** Queues a key, at high priority by default; before `start` it waits. */
  enqueue(key: string, priority: Priority = "high"): void {
    this.#queue.add(key, priority);
  }

  start(): void {
    if (this.#workers.size > 0) throw new TypeError("a controller starts once");
    for (let worker = 0; worker < this.#controller.workers; worker += 1) this.#addWorker();
  }

  /** Takes no new key, and aborts reconciles after `graceMs`; resolves at their end, or half a second later. */
  async stop({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    this.#queue.close();
    const ended = new AbortController();
    const workers = Promise.all(this.#workers).finally(() => ended.abort());
    await Promise.race([workers, this.#cutShort(graceMs, ended.signal)]);
  }

  /** Resolves when reconciles have not ended after their grace and an abort. */
  async #cutShort(graceMs: number, ended: AbortSignal): Promise<void> {
    await pause(this.#clock, Math.min(graceMs, MAX_TIMER_MS), ended);
    this.#abort.abort();
    await pause(this.#clock, LONGEST_ABORT_MS, ended);
    if (!ended.aborted) this.#log.warn("reconciles did not end when aborted", { inWork: this.#queue.inWork });
  }

  get depth(): number {
    return this.#queue.depth;
  }

  depthOf(priority: Priority): number {
    return this.#queue.depthOf(priority);
  }

  workingMs(): { readonly sum: number; readonly longest: number } {
    return this.#queue.workingMs();
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
      const cancel = this.#clock.setTimer(SLOW_MS, () => {
        isReplaced = this.#replaced();
      });
      await this.#reconcile(key);
      cancel();
      this.#queue.done(key);
      // Other requests' answers come before the next of many keys.
      await yieldIfDue("background");
    }
    this.#slow -= 1;
  }

  /** True when another worker takes the slot of a slow reconcile. */
  #replaced(): boolean {
    if (this.#slow >= SLOW_PER_WORKER * this.#controller.workers) return false;
    this.#slow += 1;
    this.#addWorker();
    return true;
  }

  /** Never rejects: a failed reconcile affects only its own key. */
  async #reconcile(key: string): Promise<void> {
    const startedMs = this.#clock.monotonicMs();
    const bound = boundedSignal({
      clock: this.#clock,
      deadlineMs: this.#controller.deadlineMs ?? DEADLINE_MS,
      signals: [this.#abort.signal],
    });
    const { name, loggedKey = (whole: string) => whole } = this.#controller;
    const facts = { controller: name, key: loggedKey(key), reconcileId: randomUUID() };
    const outcome = await withLogFacts(facts, () => this.#traced(key, facts, bound));
    bound.release();
    this.#metrics?.reconciled(outcome, this.#clock.monotonicMs() - startedMs);
  }

  #traced(key: string, attributes: SpanAttributes, bound: BoundedSignal): Promise<ReconcileOutcome> {
    const { name, causeOf } = this.#controller;
    const options = { kind: "reconcile", attributes, link: causeOf?.(key) } as const;
    return this.#tracing.span(`reconcile ${name}`, options, async (span) => {
      const outcome = await this.#outcome(key, bound);
      span.set({ outcome });
      if (FAILURES.includes(outcome)) span.failed(outcome);
      return outcome;
    });
  }

  async #outcome(key: string, bound: BoundedSignal): Promise<ReconcileOutcome> {
    try {
      const requeueUrgently = (afterMs: number) => this.#queue.addAfter(key, afterMs, "urgent");
      const result = await this.#controller.reconcile(key, { signal: bound.signal, requeueUrgently });
      return this.#succeeded(key, result ?? {});
    } catch (error) {
      return this.#failed(key, error, bound);
    }
  }

  #succeeded(key: string, { requeueAfterMs }: ReconcileResult): ReconcileOutcome {
    this.#queue.forget(key);
    if (requeueAfterMs === undefined) return "done";
    this.#queue.addAfter(key, requeueAfterMs);
    return "requeued";
  }

  #failed(key: string, error: unknown, bound: BoundedSignal): ReconcileOutcome {
    if (bound.cutBy() === "caller") {
      this.#log.info("a reconcile was aborted by the stop");
      return "failed";
    }
    const retryAfterSeconds = (error instanceof KubeError && error.retryAfterSeconds) || 0;
    const retryInMs = Math.round(this.#queue.retry(key, retryAfterSeconds * 1000));
    this.#log.warn("a reconcile failed", { error, failures: this.#queue.failures(key), retryInMs });
    if (bound.cutBy() === "deadline") return "timeout";
    return isBug(error) ? "panic" : "failed";
  }
}

const isBug = (error: unknown) => BUGS.some((kind) => error instanceof kind);
