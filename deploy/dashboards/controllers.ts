import * as units from "@grafana/grafana-foundation-sdk/units";
import { type Board, choice } from "./board.ts";
import { graph } from "./panels.ts";
import { CHOSEN_CONTROLLERS, gauge, histogram, increase, rate, valuesOf } from "./queries.ts";

const chosen = { controller: CHOSEN_CONTROLLERS };
const [waited, worked] = [
  histogram("workqueue_queue_duration_seconds", chosen),
  histogram("controller_runtime_reconcile_time_seconds", chosen),
];

const queues = [
  graph({
    title: "Depth by controller",
    description:
      "Keys that wait now, without those due later. A queue that only grows has too few workers, or slow ones.",
    unit: units.NoUnit,
    queries: { "{{controller}}": gauge("workqueue_depth", chosen).sum("controller") },
  }),
  graph(
    {
      title: "Depth by priority",
      description: "What waits at the moment of a deadline is urgent; what a user waits for is high.",
      unit: units.NoUnit,
      queries: { "{{priority}}": gauge("workqueue_depth", chosen).sum("priority") },
    },
    { isStacked: true },
  ),
  graph({
    title: "Queued",
    description: "Keys that were queued in a second.",
    unit: units.CountsPerSecond,
    queries: { "{{controller}}": rate("workqueue_adds_total", chosen).sum("controller") },
  }),
  graph({
    title: "Queued again",
    description: "Keys that were queued again after an error, in a second. The delay grows with each error of a key.",
    unit: units.CountsPerSecond,
    queries: { "{{controller}}": rate("workqueue_retries_total", chosen).sum("controller") },
  }),
  graph({
    title: "Wait (p50)",
    description:
      "What half of the keys waited for a worker at most. Buckets are powers of ten, so that only the magnitude is exact.",
    unit: units.Seconds,
    queries: { "{{controller}}": waited.quantile(0.5, "controller") },
  }),
  graph({
    title: "Wait (p95)",
    description:
      "What 95 of 100 keys waited for a worker at most. Buckets are powers of ten, so that only the magnitude is exact.",
    unit: units.Seconds,
    queries: { "{{controller}}": waited.quantile(0.95, "controller") },
  }),
];

const work = [
  graph({
    title: "Reconciles by result",
    description: "Reconciles that ended in a second: success, requeue_after, error.",
    unit: units.CountsPerSecond,
    queries: {
      "{{controller}} {{result}}": rate("controller_runtime_reconcile_total", chosen).sum("controller", "result"),
    },
  }),
  graph({
    title: "Workers in use",
    description:
      "The share of workers that reconcile now. One that lasts for more than a second leaves its place to another, so that more than all may be.",
    unit: units.PercentUnit,
    queries: {
      "{{controller}}": gauge("controller_runtime_active_workers", chosen)
        .sum("controller")
        .dividedBy(gauge("controller_runtime_max_concurrent_reconciles", chosen).sum("controller")),
    },
  }),
  graph({
    title: "Duration (p50)",
    description: "What half of the reconciles lasted at most.",
    unit: units.Seconds,
    queries: { "{{controller}}": worked.quantile(0.5, "controller") },
  }),
  graph({
    title: "Duration (p95)",
    description: "What 95 of 100 reconciles lasted at most.",
    unit: units.Seconds,
    queries: { "{{controller}}": worked.quantile(0.95, "controller") },
  }),
  graph({
    title: "Longest that runs",
    description: "How long the longest of the reconciles that run now has lasted. It is aborted at its deadline.",
    unit: units.Seconds,
    queries: { "{{controller}}": gauge("workqueue_longest_running_processor_seconds", chosen).max("controller") },
  }),
  graph({
    title: "Unfinished",
    description: "How long the reconciles that run now have lasted, all of them together.",
    unit: units.Seconds,
    queries: { "{{controller}}": gauge("workqueue_unfinished_work_seconds", chosen).sum("controller") },
  }),
];

const trouble = [
  graph({
    title: "Errors",
    description: "Reconciles that ended with an error, in a second. The log line of each has the key and the cause.",
    unit: units.CountsPerSecond,
    queries: { "{{controller}}": rate("controller_runtime_reconcile_errors_total", chosen).sum("controller") },
    width: 8,
  }),
  graph({
    title: "Panics",
    description: "Reconciles of 15 minutes that ended with a bug, such as a TypeError. There should be none.",
    unit: units.NoUnit,
    queries: {
      "{{controller}}": increase("controller_runtime_reconcile_panics_total", "15m", chosen).sum("controller"),
    },
    bad: { above: 1 },
    alerts: ["EphemeralReconcilePanics"],
    width: 8,
  }),
  graph({
    title: "Timeouts",
    description: "Reconciles of 15 minutes that were aborted at their deadline.",
    unit: units.NoUnit,
    queries: {
      "{{controller}}": increase("controller_runtime_reconcile_timeouts_total", "15m", chosen).sum("controller"),
    },
    width: 8,
  }),
];

/** Queues and reconciles, as controller-runtime counts them. */
export const controllers: Board = {
  name: "controllers",
  title: "Controllers",
  description: "The queue of each controller, its reconciles, and what goes wrong in them.",
  variables: [
    choice("controller", "Controller", valuesOf("controller_runtime_max_concurrent_reconciles", "controller")).allValue(
      ".*",
    ),
  ],
  rows: { Queues: queues, Reconciles: work, Trouble: trouble },
};
