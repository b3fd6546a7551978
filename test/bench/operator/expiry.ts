import { setTimeout as pause } from "node:timers/promises";
import { HOUR_MS } from "../../../crds/durations.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { environmentType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { type BenchWorld, inParallel } from "./bench-world.ts";
import { DUE_TTL_HOURS } from "./crowd.ts";
import type { Figures, MeasuredOperator } from "./measured-operator.ts";

const DEADLINE_MS = 300_000;

/**
 * The delay of many deletions with a common due time, beside a plain client that deletes as many others at once. The
 * operator tears down both.
 */
export async function measureExpiry(bench: BenchWorld, due: readonly string[]): Promise<Verdict> {
  const { items } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  // From the operator's start to the due time: enough to converge before, with much to spare.
  const dueAfterMs = 10_000 + 3 * items.length;
  const { metadata } = (await bench.world.find(due[0] as string)) as EphemeralEnvironment;
  const dueAtMs = Date.parse(metadata.creationTimestamp) + DUE_TTL_HOURS * HOUR_MS;
  // Whole seconds: the header with the API server's clock has no fractions.
  const aheadMs = Math.ceil((dueAtMs - Date.now() - dueAfterMs) / 1000) * 1000;
  const operator = bench.startOperator({ aheadMs });
  // The figure includes a late convergence.
  await operator.converged(DEADLINE_MS);
  const expired = await expiredAll(operator, due);
  await bench.untilQuiet();
  const plainMs = await plainDeletions(bench, due.length);
  await operator.stop();
  return verdictOf(
    due.map((name) => (expired[name] as number) - dueAtMs),
    plainMs,
  );
}

/** Milliseconds to the answer of each deletion, all sent at once by an otherwise idle client. */
async function plainDeletions(bench: BenchWorld, count: number): Promise<readonly number[]> {
  const { items } = await bench.world.admin.list(environmentType, { metadataOnly: true });
  const living = items.filter(({ metadata }) => metadata.deletionTimestamp === undefined).slice(0, count);
  const began = performance.now();
  return inParallel(living, async ({ metadata: { name, uid, resourceVersion } }) => {
    await bench.asPlatform.delete(environmentType, { name }, { uid, resourceVersion });
    return performance.now() - began;
  });
}

async function expiredAll(operator: MeasuredOperator, due: readonly string[]): Promise<Figures["expired"]> {
  for (const began = performance.now(); performance.now() - began < DEADLINE_MS; await pause(1_000)) {
    const { expired } = await operator.figures();
    if (due.every((name) => name in expired)) return expired;
  }
  throw new Error("not every environment that is due was deleted");
}

function verdictOf(lateMs: readonly number[], plainMs: readonly number[]): Verdict {
  const say = (ms: readonly number[]) =>
    `p50 ${median(ms).toFixed(0)} ms, p99 ${quantile(ms, 0.99).toFixed(0)} ms, longest ${Math.max(...ms).toFixed(0)} ms`;
  return {
    what: "expiry after the moment it was due, at p99, beside plain deletions",
    unit: "×",
    limit: 0.6,
    figure: quantile(lateMs, 0.99) / quantile(plainMs, 0.99),
    detail: `operator ${say(lateMs)}; plain client ${say(plainMs)}; n=${lateMs.length} each`,
  };
}
