import { expect, test } from "@jest/globals";
import { METRICS } from "../../../../../operator/adapters/prometheus/definitions.ts";

/** Metrics that foreign dashboards and alerts rely on: announce any change to users. */
const STABLE = [
  "http_requests_total counter method,route,code",
  "http_request_duration_seconds histogram method,route",
  "http_requests_in_flight gauge ",
  "ephemeral_environments gauge phase",
  "ephemeral_environment_creation_seconds histogram ",
  "ephemeral_environment_creation_failures_total counter ",
  "ephemeral_environment_failures_total counter ",
  "ephemeral_environment_deletion_seconds histogram ",
  "ephemeral_environment_deletion_longest_seconds gauge ",
  "ephemeral_environment_expiry_lateness_seconds histogram ",
  "ephemeral_environment_expiry_overdue_seconds gauge ",
  "ephemeral_webhooks_total counter source,outcome",
  "ephemeral_webhook_deliveries gauge phase",
  "ephemeral_notifications gauge phase",
  "ephemeral_notification_oldest_pending_seconds gauge ",
  "ephemeral_controller_last_success_timestamp_seconds gauge controller",
  "ephemeral_loop_last_success_timestamp_seconds gauge loop",
  "ephemeral_watch_progress_age_seconds gauge kind",
];

test("stable metrics keep their names, types and labels", () => {
  const stable = Object.entries(METRICS).filter(([, { stability }]) => stability === "stable");
  expect(stable.map(([name, { type, labels }]) => `${name} ${type} ${labels}`)).toEqual(STABLE);
});

test.each(Object.entries(METRICS))("%s has a name and buckets as its type asks", (name, { type, buckets }) => {
  expect(name.endsWith("_total")).toBe(type === "counter");
  expect(buckets !== undefined).toBe(type === "histogram");
});

/**
 * Metrics and groupings of kubebuilder's dashboards for controller-runtime:
 * https://github.com/kubernetes-sigs/kubebuilder/tree/master/pkg/plugins/optional/grafana/v1alpha/scaffolds/internal/templates
 */
const PUBLIC_DASHBOARDS = [
  ["controller_runtime_active_workers", "controller"],
  ["controller_runtime_max_concurrent_reconciles", "controller"],
  ["controller_runtime_reconcile_total", "controller", "result"],
  ["controller_runtime_reconcile_errors_total", "controller"],
  ["controller_runtime_terminal_reconcile_errors_total", "controller"],
  ["controller_runtime_reconcile_panics_total", "controller"],
  ["controller_runtime_reconcile_time_seconds", "controller"],
  ["workqueue_depth", "name", "controller"],
  ["workqueue_adds_total", "name", "controller"],
  ["workqueue_queue_duration_seconds", "name", "controller"],
  ["workqueue_work_duration_seconds", "name", "controller"],
  ["workqueue_retries_total", "name", "controller"],
  ["workqueue_unfinished_work_seconds", "name", "controller"],
  ["workqueue_longest_running_processor_seconds", "name", "controller"],
  ["leader_election_master_status", "name"],
  ["rest_client_requests_total", "code", "method"],
] as const;

test.each(PUBLIC_DASHBOARDS)("public dashboards find %s", (name, ...labels) => {
  expect(METRICS[name].labels).toEqual(expect.arrayContaining(labels));
});

/** Labels with as many values as there are environments or people. */
const UNBOUNDED = /environment|namespace|user|owner|creator|email|uid|subject|pod|commit|branch|path|url/;

test("no label is about an environment or a person", () => {
  const labels = Object.values(METRICS).flatMap((metric) => metric.labels);
  expect(labels.filter((label) => UNBOUNDED.test(label))).toEqual([]);
});
