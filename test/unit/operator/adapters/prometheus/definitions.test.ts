import { expect, test } from "@jest/globals";
import { METRICS } from "../../../../../operator/adapters/prometheus/definitions.ts";

/** What dashboards and alerts of others rely on: a change here is one that users have to be told of. */
const STABLE = [
  "http_requests_total counter method,route,code",
  "http_request_duration_seconds histogram method,route",
  "http_requests_in_flight gauge ",
  "ephemeral_environments gauge phase",
  "ephemeral_environment_creation_seconds histogram ",
  "ephemeral_environment_failures_total counter ",
  "ephemeral_environment_deletion_seconds histogram ",
  "ephemeral_environment_deletion_longest_seconds gauge ",
  "ephemeral_environment_expiry_lateness_seconds histogram ",
  "ephemeral_environment_expiry_overdue_seconds gauge ",
  "ephemeral_webhooks_total counter door,outcome",
  "ephemeral_webhook_deliveries gauge phase",
  "ephemeral_notifications gauge phase",
  "ephemeral_notification_oldest_pending_seconds gauge ",
  "ephemeral_controller_last_success_timestamp_seconds gauge controller",
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
