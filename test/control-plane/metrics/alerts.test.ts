import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { parse, stringify } from "yaml";
import { run } from "../../../deploy/build/run.ts";
import { METRICS } from "../../../operator/adapters/prometheus/definitions.ts";
import { prometheusPrograms } from "../../support/prometheus/programs.ts";

const RULES = fileURLToPath(new URL("../../../deploy/charts/platform/files/alerts.yaml", import.meta.url));
const RUNBOOKS = new URL("../../../docs/runbooks.md", import.meta.url);

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const { groups } = parse(await readFile(RULES, "utf8")) as { groups: readonly { rules: readonly Alert[] }[] };
const alerts = groups.flatMap(({ rules }) => rules);

/** Series of one minute each, in promtool's form: wrong for 90 minutes, then right for 90. */
interface Story {
  readonly series: Readonly<Record<string, string>>;
  /** The alert's labels beside its own. */
  readonly labels?: Readonly<Record<string, string>>;
}

const gauge = (wrong: number, right: number) => `${wrong}x90 ${right}x90`;
const counter = (wrong: number, right: number) => `0+${wrong}x90 ${90 * wrong}+${right}x90`;
const route = 'route="/api/webhooks/repohost",method="POST"';
const calls = 'service="secret-manager",operation="read"';

/** Histograms with all bad samples above the bound. */
const durations = (name: string, bound: string, more = ""): Story["series"] => ({
  [`${name}_bucket{${more}le="${bound}"}`]: counter(5, 10),
  [`${name}_bucket{${more}le="+Inf"}`]: counter(10, 10),
  [`${name}_count{${more.replace(/,$/, "")}}`]: counter(10, 10),
});

const FAILED_CREATIONS = "ephemeral_environment_creation_failures_total";
const FAILED_WAKES = "ephemeral_environments_wake_failures_total";

const STORIES: Readonly<Record<string, Story>> = {
  EphemeralDeletionStuck: { series: { ephemeral_environment_deletion_longest_seconds: gauge(1_000, 0) } },
  EphemeralExpiryWithoutProgress: { series: { ephemeral_environment_expiry_overdue_seconds: gauge(400, 0) } },
  EphemeralWatchSilent: {
    series: {
      'ephemeral_watch_progress_age_seconds{instance="one",kind="pods"}': gauge(200, 10),
      'ephemeral_watch_progress_age_seconds{instance="two",kind="pods"}': gauge(10, 10),
    },
    labels: { instance: "one", kind: "pods" },
  },
  EphemeralMessagesGivenUp: { series: { 'ephemeral_notifications{phase="failed"}': gauge(1, 0) } },
  EphemeralMessagesWaiting: { series: { ephemeral_notification_oldest_pending_seconds: gauge(2_000, 0) } },
  EphemeralSecretManagerFailing: {
    series: {
      [`ephemeral_service_calls_total{${calls},outcome="error"}`]: counter(3, 0),
      [`ephemeral_service_calls_total{${calls},outcome="ok"}`]: counter(7, 10),
    },
  },
  EphemeralHostBudgetLow: {
    series: {
      'ephemeral_host_call_budget{host="git"}': gauge(5_000, 5_000),
      'ephemeral_host_call_budget_remaining{host="git"}': gauge(100, 4_000),
    },
    labels: { host: "git" },
  },
  EphemeralLeaders: {
    series: {
      'leader_election_master_status{name="platform",instance="one"}': gauge(0, 1),
      'leader_election_master_status{name="platform",instance="two"}': gauge(0, 0),
    },
  },
  EphemeralReconcilePanics: {
    series: {
      'controller_runtime_reconcile_panics_total{instance="one",controller="environments"}': counter(1, 0),
      // Another operator's series, which the alert ignores.
      'controller_runtime_reconcile_panics_total{instance="other",controller="certificates"}': counter(1, 1),
      'ephemeral_watch_progress_age_seconds{instance="one",kind="pods"}': gauge(1, 1),
    },
    labels: { controller: "environments" },
  },
  EphemeralWebhooksFailing: {
    series: {
      [`http_requests_total{${route},code="503"}`]: counter(2, 0),
      [`http_requests_total{${route},code="200"}`]: counter(8, 10),
    },
  },
  EphemeralWakesWait: { series: { ephemeral_environment_wake_wait_longest_seconds: gauge(200, 0) } },
  EphemeralGateRefuses: {
    series: {
      'ephemeral_gate_answers_total{answer="not_held"}': counter(3, 0),
      'ephemeral_gate_answers_total{answer="passed"}': counter(7, 10),
      // Of monitors, which wake nothing.
      'ephemeral_gate_answers_total{answer="asleep"}': counter(100, 100),
    },
  },
  EphemeralCreationBudgetBurns: {
    series: { ...durations("ephemeral_environment_creation_seconds", "180"), [FAILED_CREATIONS]: "0x180" },
  },
  EphemeralDeletionBudgetBurns: { series: durations("ephemeral_environment_deletion_seconds", "600") },
  EphemeralExpiryBudgetBurns: { series: durations("ephemeral_environment_expiry_lateness_seconds", "60") },
  EphemeralWakingBudgetBurns: {
    series: { ...durations("ephemeral_environments_wake_duration_seconds", "60"), [FAILED_WAKES]: counter(10, 0) },
  },
  EphemeralApiBudgetBurns: {
    series: {
      'http_requests_total{route="/api/environments",method="GET",code="500"}': counter(1, 0),
      'http_requests_total{route="/api/environments",method="GET",code="200"}': counter(9, 10),
    },
  },
  EphemeralWebhookBudgetBurns: { series: durations("http_request_duration_seconds", "0.1", `${route},`) },
};

let folder: string;
let promtool: string;
beforeAll(async () => {
  [folder, { promtool }] = await Promise.all([mkdtemp(join(tmpdir(), "alerts-")), prometheusPrograms()]);
}, 10 * 60_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

async function play(name: string, series: Story["series"], looks: Readonly<Record<string, readonly object[]>>) {
  const file = join(folder, `${name}.yaml`);
  const played = {
    rule_files: [RULES],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
        alert_rule_test: Object.entries(looks).map(([eval_time, exp_alerts]) => ({
          eval_time,
          alertname: name,
          exp_alerts,
        })),
      },
    ],
  };
  await writeFile(file, stringify(played));
  expect(await run(promtool, ["test", "rules", file])).toContain("SUCCESS");
}

test("the rules are what Prometheus takes for rules", async () => {
  expect(await run(promtool, ["check", "rules", RULES])).toContain(`SUCCESS: ${alerts.length} rules found`);
});

test("every alert has a story, a summary and a section in the runbooks", async () => {
  expect(alerts.map(({ alert }) => alert)).toEqual(Object.keys(STORIES));
  const anchors = (await readFile(RUNBOOKS, "utf8")).match(/(?<=^## ).+$/gm)?.map((title) => title.toLowerCase());
  expect(anchors).toEqual(alerts.map(({ alert }) => alert.toLowerCase()));
  for (const { alert, annotations } of alerts) {
    expect(annotations.runbook_url).toBe(`docs/runbooks.md#${alert.toLowerCase()}`);
    expect(annotations.summary).toMatch(/^[A-Z]/);
  }
});

test.each(alerts)("$alert asks for metrics that there are", ({ expr }) => {
  const requested = expr.match(/\b[a-z]+(_[a-z]+)+\b(?=[{[)\s])/g) ?? [];
  const names = requested.map((name) => name.replace(/(?<=_seconds)_(bucket|count|sum)$/, ""));
  expect(names.length).toBeGreaterThan(0);
  for (const name of names) expect(Object.keys(METRICS)).toContain(name);
});

test.each(alerts)("$alert fires while it is so, and clears", async ({ alert, labels, annotations }) => {
  const story = STORIES[alert];
  const fired = { exp_labels: { ...labels, ...story?.labels }, exp_annotations: annotations };
  await play(alert, story?.series ?? {}, { "0m": [], "85m": [fired], "179m": [] });
});

test("no leader is also no replica that says so", async () => {
  const { labels, annotations } = alerts.find(({ alert }) => alert === "EphemeralLeaders") as Alert;
  const fired = { exp_labels: { ...labels, name: "platform" }, exp_annotations: annotations };
  await play("EphemeralLeaders", { up: "1x10" }, { "5m": [fired] });
});

test("environments that all fail burn the budget of creations, though none has taken long", async () => {
  const { labels, annotations } = alerts.find(({ alert }) => alert === "EphemeralCreationBudgetBurns") as Alert;
  const fired = { exp_labels: labels, exp_annotations: annotations };
  const none = durations("ephemeral_environment_creation_seconds", "180");
  const series = {
    ...Object.fromEntries(Object.keys(none).map((one) => [one, "0x180"])),
    [FAILED_CREATIONS]: "0+1x180",
  };
  await play("EphemeralCreationBudgetBurns", series, { "0m": [], "85m": [fired] });
});

test("few events fire no alert", async () => {
  const few = (wrong: string) => ({ "179m": [], "85m": [], "10m": [], [wrong]: [] });
  await play(
    "EphemeralSecretManagerFailing",
    { [`ephemeral_service_calls_total{${calls},outcome="error"}`]: "0 3x180" },
    few("5m"),
  );
  const count = (name: string) => `ephemeral_environment_creation_seconds_${name}`;
  const slow = {
    [count('bucket{le="180"}')]: "0x180",
    [count('bucket{le="+Inf"}')]: "0 4x180",
    [count("count")]: "0 4x180",
    [FAILED_CREATIONS]: "0 2x180",
  };
  await play("EphemeralCreationBudgetBurns", slow, few("5m"));
});
