import type { TermEnd } from "../leader/leader-election.ts";
import type { BackoffBounds } from "../time/backoff.ts";
import type { Controller } from "./controller.ts";
import { WorkerPool, type WorkerPoolContext } from "./worker-pool.ts";

export interface ManagerContext extends WorkerPoolContext {
  readonly backoffMs: BackoffBounds;
  /** Further subscriptions with the controllers' lifetime; each returns its end. */
  readonly subscriptions?: readonly (() => () => void)[];
  /** Called when nothing more may be sent: aborts calls of running reconciles. */
  readonly cutCalls: () => void;
}

/** An aborted reconcile is equivalent to a crash, and the next leader waits for this end. */
const DRAIN_MS = 1_000;

/**
 * Runs the controllers until the signal aborts: starts watches, then queues initial keys, then starts workers.
 *
 * At the end running reconciles get one second; when the signal's reason is the TermEnd `lost` they are aborted at
 * once, because another process may lead already. Resolves when all have ended.
 */
export async function runControllers(
  controllers: readonly Controller[],
  context: ManagerContext,
  signal: AbortSignal,
): Promise<void> {
  const { subscriptions = [], backoffMs } = context;
  const running = controllers.map((controller) => {
    const pool = new WorkerPool({ backoffMs, ...controller }, context);
    return { controller, pool, ends: controller.watches.map((watch) => watch(pool.enqueue.bind(pool))) };
  });
  const ends = [...running.flatMap((one) => one.ends), ...subscriptions.map((subscribe) => subscribe())];
  for (const { controller, pool } of running) {
    for (const key of controller.initialKeys()) pool.enqueue(key, "low");
  }
  const pools = running.map(({ pool }) => pool);
  for (const pool of pools) pool.start();
  await aborted(signal);
  const isLost = signal.reason === ("lost" satisfies TermEnd);
  await drain(pools, isLost ? 0 : DRAIN_MS, context);
  for (const end of ends) end();
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise((ended) => signal.addEventListener("abort", ended, { once: true }));
}

async function drain(pools: readonly WorkerPool[], graceMs: number, context: ManagerContext): Promise<void> {
  const { clock, cutCalls } = context;
  if (graceMs === 0) cutCalls();
  const cancel = clock.setTimer(graceMs, cutCalls);
  await Promise.all(pools.map((pool) => pool.stop({ graceMs })));
  cancel();
  cutCalls();
}
