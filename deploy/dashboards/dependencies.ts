import * as units from "@grafana/grafana-foundation-sdk/units";
import type { Board } from "./board.ts";
import { graph } from "./panels.ts";
import { gauge, histogram, rate, secondsSince, shareOf } from "./queries.ts";

const apiServer = [
  graph(
    {
      title: "Calls to the API server by status",
      description:
        "Calls in a second, each attempt counted. `<error>`: without an answer. 404 and 409 are part of normal work.",
      unit: units.RequestsPerSecond,
      queries: { "{{code}}": rate("rest_client_requests_total").sum("code") },
    },
    { isStacked: true },
  ),
  graph({
    title: "Calls to the API server by method",
    description: "Calls in a second. A watch is a GET that lasts for less than a minute.",
    unit: units.RequestsPerSecond,
    queries: { "{{method}}": rate("rest_client_requests_total").sum("method") },
  }),
  graph({
    title: "Failing calls to the API server",
    description: "The share of calls without an answer, with a status of 500 or more, or that came too fast (429).",
    unit: units.PercentUnit,
    queries: {
      "{{method}}": shareOf("rest_client_requests_total", { which: { code: /5..|429|<error>/ }, by: ["method"] }),
    },
  }),
  graph({
    title: "Age of watches",
    description: "How long ago the watch of a kind was last heard of, in the replica where that is longest.",
    unit: units.Seconds,
    queries: { "{{kind}}": gauge("ephemeral_watch_progress_age_seconds").max("kind") },
    bad: { above: 180 },
    alerts: ["EphemeralWatchSilent"],
  }),
];

const services = [
  graph({
    title: "Calls to services",
    description: "Calls in a second to the secret manager, chats, the mail server and hosts of repositories.",
    unit: units.RequestsPerSecond,
    queries: { "{{service}} {{operation}}": rate("ephemeral_service_calls_total").sum("service", "operation") },
  }),
  graph({
    title: "Duration of calls to services (p95)",
    description: "What 95 of 100 calls lasted at most.",
    unit: units.Seconds,
    queries: {
      "{{service}} {{operation}}": histogram("ephemeral_service_call_duration_seconds").quantile(
        0.95,
        "service",
        "operation",
      ),
    },
  }),
  graph({
    title: "Failing calls to the secret manager",
    description:
      "The share of calls that failed in 10 minutes. New environments wait meanwhile; those that run keep running.",
    unit: units.PercentUnit,
    queries: {
      failing: shareOf("ephemeral_service_calls_total", {
        of: { service: "secret-manager" },
        which: { outcome: "error" },
        over: "10m",
      }),
    },
    bad: { above: 0.2 },
    alerts: ["EphemeralSecretManagerFailing"],
  }),
  graph({
    title: "Failing calls to other services",
    description: "The share of calls that failed in 10 minutes. Messages are tried again.",
    unit: units.PercentUnit,
    queries: {
      "{{service}}": shareOf("ephemeral_service_calls_total", {
        of: { service: /chat|ingress-metrics|mail|opencost|repository-host/ },
        which: { outcome: "error" },
        by: ["service"],
        over: "10m",
      }),
    },
    alerts: ["EphemeralMessagesGivenUp", "EphemeralMessagesWaiting"],
  }),
];

const hosts = [
  graph({
    title: "Requests to hosts by answer",
    description: "Requests in a second to the API of a repository's host. none: without an answer.",
    unit: units.RequestsPerSecond,
    queries: { "{{host}} {{answer}}": rate("ephemeral_host_calls_total").sum("host", "answer") },
  }),
  graph({
    title: "Budget that is left",
    description:
      "The share of the requests of a window that a host still lets us make, in the replica that knows of fewest.",
    unit: units.PercentUnit,
    queries: {
      "{{host}}": gauge("ephemeral_host_call_budget_remaining")
        .dividedBy(gauge("ephemeral_host_call_budget"))
        .min("host"),
    },
    bad: { below: 0.1 },
    alerts: ["EphemeralHostBudgetLow"],
  }),
  graph({
    title: "Unchanged answers",
    description: "The share of answers 304 in an hour. GitHub counts them against no budget.",
    unit: units.PercentUnit,
    queries: {
      "{{host}}": shareOf("ephemeral_host_calls_total", { which: { answer: "304" }, by: ["host"], over: "1h" }),
    },
  }),
  graph({
    title: "Pauses that hosts requested",
    description: "Answers in a second after which nothing was sent to the host for a while.",
    unit: units.CountsPerSecond,
    queries: { "{{host}}": rate("ephemeral_host_call_limits_total").sum("host") },
  }),
];

const processes = [
  graph({
    title: "Since the last success",
    description:
      "How long ago a reconcile of each controller, each part of the garbage collection and the storing of counts last ended without an error. Those that have nothing to do may be old.",
    unit: units.Seconds,
    queries: {
      "{{controller}}": secondsSince(gauge("ephemeral_controller_last_success_timestamp_seconds").max("controller")),
      "{{loop}}": secondsSince(gauge("ephemeral_loop_last_success_timestamp_seconds").max("loop")),
    },
  }),
  graph({
    title: "Leader",
    description: "Which replica leads: 1, the others 0. Between two there may be some seconds without one.",
    unit: units.NoUnit,
    queries: { "{{instance}}": gauge("leader_election_master_status", { name: "platform" }).max("instance") },
    alerts: ["EphemeralLeaders"],
  }),
  graph({
    title: "Event-loop delay (p99)",
    description:
      "What 99 of 100 turns of the event loop were delayed at most since the last scrape. Every request waits that long.",
    unit: units.Seconds,
    queries: { "{{instance}}": gauge("nodejs_eventloop_lag_p99_seconds").max("instance") },
    alerts: ["EphemeralWebhookBudgetBurns"],
  }),
  graph({
    title: "Memory",
    description: "Resident memory, and what of it is JavaScript's heap in use.",
    unit: units.BytesIEC,
    queries: {
      "{{instance}} resident": gauge("process_resident_memory_bytes").max("instance"),
      "{{instance}} heap": gauge("nodejs_heap_size_used_bytes").max("instance"),
    },
  }),
  graph({
    title: "Processor",
    description: "Processors in use, and those of them that collect garbage.",
    unit: units.NoUnit,
    queries: {
      "{{instance}} all": rate("process_cpu_seconds_total").sum("instance"),
      "{{instance}} garbage collection": rate("nodejs_gc_duration_seconds_sum").sum("instance"),
    },
  }),
  graph({
    title: "Open files",
    description: "File descriptors that are open: connections, mostly.",
    unit: units.NoUnit,
    queries: { "{{instance}}": gauge("process_open_fds").max("instance") },
  }),
  graph({
    title: "Uptime",
    description: "For how long each process has run. Counters begin anew with each.",
    unit: units.Seconds,
    queries: { "{{instance}}": secondsSince(gauge("process_start_time_seconds").max("instance")) },
    width: 24,
  }),
];

/** Calls to other systems, and the state of the platform's processes. */
export const dependencies: Board = {
  name: "dependencies",
  title: "Dependencies and processes",
  description:
    "The API server, the secret manager, chats, mail and hosts of repositories; background loops and processes.",
  rows: {
    "Kubernetes API": apiServer,
    Services: services,
    "Hosts of repositories": hosts,
    "Background loops and processes": processes,
  },
};
