/** A metric, as `docs/metrics.md` lists it. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  /** A sentence for people. */
  readonly help: string;
  readonly labels: readonly string[];
  /** `stable`: name, type and labels stay within a major version. */
  readonly stability: "stable" | "alpha";
  /** Reporting processes: cluster-wide metrics come from the leader alone, so that sums are right. */
  readonly from: "replica" | "leader" | "gate";
  readonly buckets?: readonly number[];
}

/** Definition as written. Without them: no labels, `alpha`, every replica. */
type Definition = Pick<MetricDefinition, "type" | "help"> & Partial<MetricDefinition>;

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

const LIFE_SECONDS = [1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1800];
const LATENESS_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 900, 3600, 86_400];
const CALL_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

const STABLE = { stability: "stable" } as const;
const OF_LEADER = { stability: "stable", from: "leader" } as const;

/** All metrics by name, but those of Node.js and the process, which prom-client defines. */
const DEFINITIONS = {
  // Metrics of controller-runtime and client-go, under their names there.
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
  controller_runtime_active_workers: { type: "gauge", help: "Reconciles that run now.", labels: ["controller"] },
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
  // Our own.
  http_requests_total: {
    type: "counter",
    help: "Requests to the REST interface by route and status; 499 is for those that were cut off before the answer.",
    labels: ["method", "route", "code"],
    ...STABLE,
  },
  http_request_duration_seconds: {
    type: "histogram",
    help: "How long requests lasted, without streams.",
    labels: ["method", "route"],
    buckets: CALL_SECONDS,
    ...STABLE,
  },
  http_requests_in_flight: { type: "gauge", help: "Requests that are being served now.", ...STABLE },
  ephemeral_environments: {
    type: "gauge",
    help: "Environments by the phase that users see.",
    labels: ["phase"],
    ...OF_LEADER,
  },
  ephemeral_environments_asleep: {
    type: "gauge",
    help: "Environments that are asleep, by cause: by their schedule, because they were idle, or suspended by a person.",
    labels: ["cause"],
    from: "leader",
  },
  ephemeral_environments_waiting_to_wake: {
    type: "gauge",
    help: "Environments that are still asleep although a request, or the begin of their hours, wakes them: they wait for a place among those that wake at once.",
    from: "leader",
  },
  ephemeral_environments_waking: {
    type: "gauge",
    help: "Environments that wake now: those that reconcile.wakesAtOnce bounds, those that people wake, and those whose wake has failed.",
    from: "leader",
  },
  ephemeral_environment_wake_wait_longest_seconds: {
    type: "gauge",
    help: "How long the first of them has been waiting; 0 without any.",
    from: "leader",
  },
  ephemeral_environments_activity_unknown: {
    type: "gauge",
    help: "Environments that would sleep when idle, but whose requests are not known.",
    from: "leader",
  },
  ephemeral_environments_wake_duration_seconds: {
    type: "histogram",
    help: "From the begin of waking until the environment answered again, by cause: its schedule, a person, or a request, which counts from its time.",
    labels: ["cause"],
    buckets: LIFE_SECONDS,
    from: "leader",
  },
  ephemeral_environments_wake_failures_total: {
    type: "counter",
    help: "How often environments failed that were waking, by cause of the wake; those that answer later are part of the seconds, too.",
    labels: ["cause"],
    from: "leader",
  },
  ephemeral_environment_creation_seconds: {
    type: "histogram",
    help: "From the creation of an environment until it was ready for the first time.",
    buckets: LIFE_SECONDS,
    ...OF_LEADER,
  },
  ephemeral_environment_creation_failures_total: {
    type: "counter",
    help: "How often environments failed that had never been ready; they are no part of the seconds until ready.",
    ...OF_LEADER,
  },
  ephemeral_environment_failures_total: {
    type: "counter",
    help: "How often environments failed, from whatever phase.",
    ...OF_LEADER,
  },
  ephemeral_environment_deletion_seconds: {
    type: "histogram",
    help: "From the request to delete an environment until all of it was gone.",
    buckets: LIFE_SECONDS,
    ...OF_LEADER,
  },
  ephemeral_environment_deletion_longest_seconds: {
    type: "gauge",
    help: "For how long the environment that is being deleted the longest has been; 0 without any.",
    ...OF_LEADER,
  },
  ephemeral_environment_expiry_lateness_seconds: {
    type: "histogram",
    help: "From the expiry of an environment until its deletion was requested.",
    buckets: LATENESS_SECONDS,
    ...OF_LEADER,
  },
  ephemeral_environment_expiry_overdue_seconds: {
    type: "gauge",
    help: "How long ago the first of the environments expired whose deletion is not requested yet; 0 without any.",
    ...OF_LEADER,
  },
  ephemeral_webhooks_total: {
    type: "counter",
    help: "Webhooks by the end of their request: acted, ignored, pending, duplicate; refused, malformed, no_key, full, failed.",
    labels: ["source", "outcome"],
    ...STABLE,
  },
  ephemeral_webhook_deliveries: { type: "gauge", help: "Stored deliveries by phase.", labels: ["phase"], ...OF_LEADER },
  ephemeral_notifications: {
    type: "gauge",
    help: "Stored messages by phase; failed ones were given up.",
    labels: ["phase"],
    ...OF_LEADER,
  },
  ephemeral_notification_oldest_pending_seconds: {
    type: "gauge",
    help: "For how long the oldest message that is neither sent nor given up has been waiting; 0 without any.",
    ...OF_LEADER,
  },
  ephemeral_controller_last_success_timestamp_seconds: {
    type: "gauge",
    help: "When a reconcile of the controller last ended without an error, in seconds since 1970.",
    labels: ["controller"],
    ...STABLE,
  },
  ephemeral_loop_last_success_timestamp_seconds: {
    type: "gauge",
    help: "When recurring work that is not a controller of its own last ended without an error, in seconds since 1970: each part of the garbage collection at the leader, and the storing of request counts at every replica.",
    labels: ["loop"],
    ...STABLE,
  },
  ephemeral_service_calls_total: {
    type: "counter",
    help: "Calls to services by operation and outcome: ok or error.",
    labels: ["service", "operation", "outcome"],
  },
  ephemeral_service_call_duration_seconds: {
    type: "histogram",
    help: "How long calls to services lasted.",
    labels: ["service", "operation"],
    buckets: CALL_SECONDS,
  },
  ephemeral_host_calls_total: {
    type: "counter",
    help: "Requests to the API of a repository's host by answer: 2xx, 3xx, 4xx, 5xx; 304, which GitHub counts against no budget; none.",
    labels: ["host", "answer"],
  },
  ephemeral_host_call_limits_total: {
    type: "counter",
    help: "Answers of a repository's host that requested a pause: nothing was sent for a while.",
    labels: ["host"],
  },
  ephemeral_host_call_budget: {
    type: "gauge",
    help: "How many requests a repository's host lets us make in a window of time; only of hosts that say so.",
    labels: ["host"],
  },
  ephemeral_host_call_budget_remaining: {
    type: "gauge",
    help: "How many of them are left; absent once the window is over, until the host tells of the next one.",
    labels: ["host"],
  },
  ephemeral_gate_answers_total: {
    type: "counter",
    help: "Answers of the gate by name: passed is the application's; waking, asleep, suspended, starting, failed and unknown say what the host's environment does; the others say why a request was not held.",
    labels: ["answer"],
    from: "gate",
  },
  ephemeral_gate_held_requests: {
    type: "gauge",
    help: "Requests that wait for their environments.",
    from: "gate",
  },
  ephemeral_watch_progress_age_seconds: {
    type: "gauge",
    help: "How long ago the watch of a kind was last heard of.",
    labels: ["kind"],
    ...STABLE,
  },
} as const satisfies Record<string, Definition>;

/** Name of one of our metrics. */
export type MetricName = keyof typeof DEFINITIONS;

/** Metric names of a type. */
export type MetricOfType<Type extends MetricDefinition["type"]> = {
  [Name in MetricName]: (typeof DEFINITIONS)[Name]["type"] extends Type ? Name : never;
}[MetricName];

/** Labels of a metric. */
export type MetricLabel<Name extends MetricName> = (typeof DEFINITIONS)[Name] extends {
  labels: readonly (infer Label extends string)[];
}
  ? Label
  : never;

/** All metrics, with defaults. */
export const METRICS = Object.fromEntries(
  Object.entries<Definition>(DEFINITIONS).map(([name, definition]) => [
    name,
    { labels: [], stability: "alpha", from: "replica", ...definition },
  ]),
) as Readonly<Record<MetricName, MetricDefinition>>;
