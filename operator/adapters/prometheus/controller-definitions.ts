import type { Definition } from "./metric-definition.ts";

/**
 * Buckets of controller-runtime:
 * https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/controller/metrics/metrics.go
 */
const RECONCILE_SECONDS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];
/**
 * Buckets `ExponentialBuckets(10e-9, 10, 12)` of controller-runtime:
 * https://github.com/kubernetes-sigs/controller-runtime/blob/main/pkg/internal/metrics/workqueue.go
 */
const QUEUE_SECONDS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];
const QUEUE = ["name", "controller"] as const;

/** Metrics of controller-runtime and client-go, under their names. */
export const CONTROLLER_DEFINITIONS = {
  controller_runtime_reconcile_total: {
    type: "counter",
    help: "Reconciles by controller and result: success, requeue_after, error.",
    labels: ["controller", "result"],
  },
  controller_runtime_reconcile_errors_total: {
    type: "counter",
    help: "Reconciles that ended with an error.",
    labels: ["controller"],
  },
  controller_runtime_terminal_reconcile_errors_total: {
    type: "counter",
    help: "Reconciles that ended with an error that is not tried again. Every error is tried again, so it is always 0; dashboards for controller-runtime ask for it.",
    labels: ["controller"],
  },
  controller_runtime_reconcile_panics_total: {
    type: "counter",
    help: "Reconciles that ended with an error that is a bug, such as a TypeError; they count as errors, too.",
    labels: ["controller"],
  },
  controller_runtime_reconcile_timeouts_total: {
    type: "counter",
    help: "Reconciles that were aborted at their deadline; they count as errors, too.",
    labels: ["controller"],
  },
  controller_runtime_reconcile_time_seconds: {
    type: "histogram",
    help: "How long reconciles lasted.",
    labels: ["controller"],
    buckets: RECONCILE_SECONDS,
  },
  controller_runtime_max_concurrent_reconciles: {
    type: "gauge",
    help: "Reconciles at a time; one that lasts for more than a second leaves its place to another.",
    labels: ["controller"],
  },
  controller_runtime_active_workers: {
    type: "gauge",
    help: "Reconciles that run now.",
    labels: ["controller"],
  },
  workqueue_depth: {
    type: "gauge",
    help: "Keys that wait now, without those due later. What waits at the moment of a deadline is urgent; what a user waits for is high.",
    labels: [...QUEUE, "priority"],
  },
  workqueue_adds_total: { type: "counter", help: "Keys that were queued.", labels: QUEUE },
  workqueue_queue_duration_seconds: {
    type: "histogram",
    help: "How long keys waited for a worker.",
    labels: QUEUE,
    buckets: QUEUE_SECONDS,
  },
  workqueue_work_duration_seconds: {
    type: "histogram",
    help: "How long keys were worked on.",
    labels: QUEUE,
    buckets: QUEUE_SECONDS,
  },
  workqueue_retries_total: { type: "counter", help: "Keys that were queued again after an error.", labels: QUEUE },
  workqueue_unfinished_work_seconds: {
    type: "gauge",
    help: "How long the reconciles that run now have lasted, all of them together.",
    labels: QUEUE,
  },
  workqueue_longest_running_processor_seconds: {
    type: "gauge",
    help: "How long the longest of the reconciles that run now has lasted.",
    labels: QUEUE,
  },
  leader_election_master_status: {
    type: "gauge",
    help: "Whether this replica leads: 1 or 0. The sum over all replicas is 1.",
    labels: ["name"],
  },
  rest_client_requests_total: {
    type: "counter",
    help: "Calls to the Kubernetes API by status, with each attempt counted; the code <error> is for those without an answer.",
    labels: ["code", "method"],
  },
} as const satisfies Record<string, Definition>;
