import * as units from "@grafana/grafana-foundation-sdk/units";
import { OF_HOSTS } from "./objectives.ts";
import { figure, graph } from "./panels.ts";
import { gauge, histogram, rate, shareOf } from "./queries.ts";

const requests = rate("http_requests_total");

/** Requests by route: rate, errors and duration. */
export const restInterface = [
  graph({
    title: "Requests by route",
    description: "The ten routes with most requests in a second. The route none is for paths that no route answers.",
    unit: units.RequestsPerSecond,
    queries: { "{{method}} {{route}}": requests.sum("method", "route").top() },
  }),
  graph(
    {
      title: "Requests by status",
      description: "Requests in a second by the status of their answer. 499: the caller was gone before the answer.",
      unit: units.RequestsPerSecond,
      queries: { "{{code}}": requests.sum("code") },
    },
    { isStacked: true },
  ),
  graph({
    title: "Errors by route",
    description:
      "Requests in a second that were answered with a status of 500 or more. Log lines at level error have the cause.",
    unit: units.RequestsPerSecond,
    queries: {
      "{{method}} {{route}} {{code}}": rate("http_requests_total", { code: /5../ }).sum("method", "route", "code"),
    },
    alerts: ["EphemeralApiBudgetBurns"],
  }),
  graph({
    title: "Duration by route (p95)",
    description: "What 95 of 100 requests lasted at most, of the ten slowest routes, without streams.",
    unit: units.Seconds,
    queries: {
      "{{method}} {{route}}": histogram("http_request_duration_seconds").quantile(0.95, "method", "route").top(),
    },
  }),
  graph({
    title: "Requests in progress",
    description: "Requests that are being served now, by replica. Streams of logs are among them.",
    unit: units.NoUnit,
    queries: { "{{instance}}": gauge("http_requests_in_flight").sum("instance") },
    width: 24,
  }),
];

/** Received webhooks and their outcomes. */
export const webhooks = [
  graph({
    title: "Webhooks by outcome",
    description:
      "Webhooks in a second by the end of their request: acted, ignored, pending, duplicate; refused, malformed, no_key, full, failed.",
    unit: units.RequestsPerSecond,
    queries: { "{{source}} {{outcome}}": rate("ephemeral_webhooks_total").sum("source", "outcome") },
  }),
  graph({
    title: "Failing webhooks",
    description: "The share of webhooks of hosts that were answered with a status of 500 or more, in 10 minutes.",
    unit: units.PercentUnit,
    queries: {
      failing: shareOf("http_requests_total", { of: { route: OF_HOSTS }, which: { code: /5../ }, over: "10m" }),
    },
    bad: { above: 0.1 },
    alerts: ["EphemeralWebhooksFailing"],
  }),
  graph({
    title: "Duration of webhooks",
    description: "From a webhook of a host until its answer.",
    unit: units.Seconds,
    queries: {
      p50: ofHosts().quantile(0.5),
      p95: ofHosts().quantile(0.95),
    },
    bad: { above: 0.1 },
    alerts: ["EphemeralWebhookBudgetBurns"],
  }),
  graph(
    {
      title: "Stored deliveries",
      description: "Deliveries by phase. Many that are pending wait for a host, for a right, or for the leader.",
      unit: units.NoUnit,
      queries: { "{{phase}}": gauge("ephemeral_webhook_deliveries").sum("phase") },
    },
    { isStacked: true },
  ),
];

function ofHosts() {
  return histogram("http_request_duration_seconds", { route: OF_HOSTS, method: "POST" });
}

/** Chat messages and e-mail. */
export const messages = [
  graph(
    {
      title: "Stored messages",
      description: "Messages by phase. Sent ones are removed after a while.",
      unit: units.NoUnit,
      queries: { "{{phase}}": gauge("ephemeral_notifications").sum("phase") },
    },
    { isStacked: true },
  ),
  figure({
    title: "Given up",
    description: "Messages that were given up after all their attempts.",
    unit: units.NoUnit,
    queries: { "given up": gauge("ephemeral_notifications", { phase: "failed" }).sum() },
    bad: { above: 1 },
    alerts: ["EphemeralMessagesGivenUp"],
    width: 6,
    height: 8,
  }),
  figure({
    title: "Longest wait",
    description: "For how long the oldest message that is neither sent nor given up has been waiting; 0 without any.",
    unit: units.Seconds,
    queries: { waiting: gauge("ephemeral_notification_oldest_pending_seconds").max() },
    bad: { above: 1800 },
    alerts: ["EphemeralMessagesWaiting"],
    width: 6,
    height: 8,
  }),
];
