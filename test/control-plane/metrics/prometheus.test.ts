import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { METRICS, type MetricName } from "../../../operator/adapters/prometheus/definitions.ts";
import { freePorts } from "../../support/fixtures/free-ports.ts";
import { testSettings } from "../../support/fixtures/test-settings.ts";
import { until } from "../../support/fixtures/until.ts";
import { unique } from "../../support/plane/people.ts";
import { type PlatformProcess, platformProcess } from "../../support/plane/platform-process.ts";
import { asQueried, DASHBOARDS } from "../../support/prometheus/dashboards.ts";
import { type PrometheusPrograms, prometheusPrograms } from "../../support/prometheus/programs.ts";
import { selectorsOf } from "../../support/prometheus/promql.ts";
import { createWorld, type World } from "../../support/worlds/environment-world.ts";

/** A scrape a second; a dead leader's successor leads within twenty. */
const SEEN_DEADLINE_MS = 60_000;

let world: World;
let folder: string;
let programs: PrometheusPrograms;
let prometheus: ChildProcess;
let url: string;
let replicas: readonly PlatformProcess[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "prometheus-"));
  [world, programs] = await Promise.all([createWorld(), prometheusPrograms()]);
  const settings = { ...testSettings, leaderElection: true };
  replicas = await Promise.all([1, 2].map(() => platformProcess(world.identity, settings)));
  await Promise.all(replicas.map((one) => one.start()));
  url = await startPrometheus();
}, 10 * 60_000);
afterAll(async () => {
  prometheus.kill("SIGKILL");
  if (prometheus.exitCode === null && prometheus.signalCode === null) await once(prometheus, "exit");
  await Promise.all(replicas.map((one) => one.stop()));
  await world.stop();
  await rm(folder, { recursive: true, force: true });
}, 60_000);

async function startPrometheus(): Promise<string> {
  const [port] = await freePorts(1);
  const config = {
    global: { scrape_interval: "1s" },
    scrape_configs: [
      { job_name: "platform", static_configs: [{ targets: replicas.map((one) => new URL(one.probesUrl).host) }] },
    ],
  };
  const file = join(folder, "prometheus.yaml");
  await writeFile(file, stringify(config));
  const listen = `127.0.0.1:${port}`;
  const flags = ["--config.file", file, "--storage.tsdb.path", join(folder, "data"), "--web.listen-address", listen];
  prometheus = spawn(programs.prometheus, flags.concat("--log.level", "error"), {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const isReady = () =>
    fetch(`http://${listen}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(isReady, { what: "Prometheus being ready", deadlineMs: 60_000 });
  return `http://${listen}`;
}

const made: EphemeralEnvironment[] = [];
const create = async () => void made.push(await world.create(unique("seen-")));
afterEach(async () => {
  for (const one of made) await world.delete(one);
  for (const one of made.splice(0)) await world.expectGone(one);
}, 120_000);

interface Found {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [at: number, value: string];
}

async function requested<Data>(path: string, parameters: Readonly<Record<string, string>>): Promise<Data> {
  const reply = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const { status, error, data } = (await reply.json()) as { status: string; error?: string; data: Data };
  expect({ parameters, status, error }).toEqual({ parameters, status: "success", error: undefined });
  return data;
}

const query = async (promql: string) =>
  (await requested<{ result: readonly Found[] }>("query", { query: promql })).result;

const values = async (promql: string) => (await query(promql)).map(({ value }) => Number(value[1]));
const untilTrue = (promql: string) =>
  until(async () => (await query(promql)).length > 0, { what: promql, deadlineMs: SEEN_DEADLINE_MS });
const untilValue = (promql: string, expected: number) =>
  until(async () => (await values(promql)).includes(expected), {
    what: `${promql} being ${expected}`,
    deadlineMs: SEEN_DEADLINE_MS,
  });

test("Prometheus reads both replicas, and figures of the cluster come from the leader alone", async () => {
  for (let number = 0; number < 3; number += 1) await create();
  await untilValue("sum(up)", 2);
  await untilValue("sum(leader_election_master_status)", 1);
  await untilValue("sum(ephemeral_environments)", made.length);
  expect(await values("count(ephemeral_environments{phase='creating'})")).toEqual([1]);
  await untilValue('sum(controller_runtime_max_concurrent_reconciles{controller="repositories"})', 8);
  for (const replica of replicas) await fetch(`${replica.url}/api/health`);
  await untilValue('sum(http_requests_total{route="/api/health",code="200"})', 2);
  for (const name of ["reconcile_total", "reconcile_time_seconds_count"]) {
    await untilTrue(`sum(controller_runtime_${name}{controller="environments"}) >= ${made.length}`);
  }
  await untilTrue(`sum(workqueue_adds_total{name="environments"}) >= ${made.length}`);
  await untilTrue('sum(rest_client_requests_total{method="POST",code="201"}) > 0');
  expect(await values("max(ephemeral_watch_progress_age_seconds) < 120")).toHaveLength(1);

  const texts = await Promise.all(replicas.map(async (one) => (await fetch(`${one.probesUrl}/metrics`)).text()));
  for (const text of texts) {
    for (const { metadata } of made) expect(text).not.toContain(metadata.name);
    expect(text.length).toBeLessThan(1_000_000);
    await checked(text);
  }
}, 180_000);

/** Hosts without a reported budget have none, and nothing calls one here. */
const hasData = ({ name }: { readonly name: string }) =>
  METRICS[name as MetricName]?.type === "gauge" && !name.startsWith("ephemeral_host_");

test("Prometheus answers every query of the dashboards, and those of gauges with data", async () => {
  await create();
  await untilValue("sum(ephemeral_environments)", 1);
  // Counts are stored for the first time after ten seconds.
  await untilValue('count(ephemeral_loop_last_success_timestamp_seconds{loop="request counts"})', 2);
  const now = Date.now() / 1000;
  const period = { start: String(now - 60), end: String(now), step: "15" };
  const targets = DASHBOARDS.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets));
  for (const { expr } of targets) {
    const promql = asQueried(expr, "platform");
    const { result } = await requested<{ result: readonly object[] }>("query_range", { query: promql, ...period });
    const isExpected = selectorsOf(expr).every(hasData);
    expect({ promql, isThere: result.length > 0 || !isExpected }).toEqual({ promql, isThere: true });
  }
  expect(targets.filter(({ expr }) => selectorsOf(expr).every(hasData)).length).toBeGreaterThan(15);

  // As Grafana queries the values of variables.
  for (const variable of DASHBOARDS.flatMap(({ variables }) => variables)) {
    const [, selector = "", label = ""] = /^label_values\((.+), (\w+)\)$/.exec(variable) ?? [];
    const found = await requested<readonly string[]>(`label/${label}/values`, {
      "match[]": asQueried(selector, "platform"),
    });
    // These targets have a job, and no namespace.
    expect({ label, isThere: found.length > 0 }).toEqual({ label, isThere: label !== "namespace" });
  }
}, 180_000);

test("when the leader dies, another replica has the figures", async () => {
  await create();
  await untilValue("sum(ephemeral_environments)", 1);
  const [leader] = await query("leader_election_master_status == 1");
  const died = replicas.find((replica) => new URL(replica.probesUrl).host === leader?.metric.instance);
  await died?.kill();
  await untilValue("sum(up)", 1);
  await untilValue(`sum(leader_election_master_status{instance!="${leader?.metric.instance}"})`, 1);
  await untilValue(`sum(ephemeral_environments{instance!="${leader?.metric.instance}"})`, 1);
  await died?.start();
}, 180_000);

/** Runs `promtool check metrics`, which reads standard input. */
async function checked(text: string): Promise<void> {
  const tool = spawn(programs.promtool, ["check", "metrics"], { stdio: ["pipe", "pipe", "pipe"] });
  let said = "";
  for (const stream of [tool.stdout, tool.stderr]) {
    stream.on("data", (chunk) => {
      said += String(chunk);
    });
  }
  tool.stdin.end(text);
  const [code] = await once(tool, "exit");
  expect({ said, code }).toEqual({ said: "", code: 0 });
}
