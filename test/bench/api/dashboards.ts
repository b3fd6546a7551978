import { randomUUID } from "node:crypto";
import { DAY_MS } from "../../../crds/durations.ts";
import { recordKind, recordManifest } from "../../../crds/environment/environment-record.ts";
import { DIMENSIONS, NO_TOTALS, type PeriodSummary } from "../../../crds/usage/period-summary.ts";
import { recordType } from "../../../operator/adapters/kubernetes/kinds.ts";
import { kubernetesRollupStore } from "../../../operator/adapters/kubernetes/records/rollups.ts";
import type { World } from "../../support/worlds/environment-world.ts";
import { startIdleServer } from "../idle.ts";
import { patternOf } from "../operator/copies.ts";
import type { Openings } from "../run-benchmark.ts";
import { median, quantile } from "../table.ts";
import type { Verdict } from "../verdict.ts";
import { call, inTurn, load, type Sample } from "./load.ts";
import { spread } from "./spread.ts";

const NAMESPACE = "ephemeral-system";
const DAYS = 400;
/** Requests a second to all dashboards together: 270 each in half a minute. */
const PER_SECOND = 80;
/** Time for V8's compilation, and for data that is read once. */
const WARM_UP_SECONDS = 5;
const PATHS = [
  ...["metrics", "slo/status", "costs/summary", "costs/dashboard"].map((path) => `/api/observability/${path}`),
  ...["dashboard", "environments/analytics", "users/activity", "costs/analysis", "sleep"].map(
    (path) => `/api/insights/${path}`,
  ),
];
/** Deleted environments a day: 400 days have had 100,000 environments. */
const DELETED_A_DAY = 250;
const ROWS = { repository: 30, creator: 100, config_set: 5, trigger: 4 } as const;
const recordName = (index: number) => `record-${String(index).padStart(6, "0")}`;

/** Creates that many records of deleted environments, and rollups of more than a year. */
export async function makeHistory({ admin, plane }: World, records: number): Promise<void> {
  const [createdMs, deletedMs] = [Date.now() - 2 * DAY_MS, Date.now() - DAY_MS];
  const at = (ms: number) => new Date(ms).toISOString();
  const manifest = recordManifest(
    {
      name: recordName(0),
      uid: randomUUID(),
      reason: "expired",
      teardownSeconds: 20,
      createdAt: at(createdMs),
      readyAt: at(createdMs + 4e4),
      dueAt: at(deletedMs - 1e3),
      deletedAt: at(deletedMs),
      goneAt: at(deletedMs + 2e4),
      usage: usageSince(createdMs),
      owner: { subject: "https://id.example.test#dev", email: "dev@example.test", name: "Dev" },
      components: { backend: { repository: "test-backend", branch: "main", commit: "" } },
    },
    NAMESPACE,
  );
  await admin.create(recordType, { ...manifest, metadata: { ...manifest.metadata, name: recordName(0) } });
  const pattern = await patternOf(plane.etcdSocket, recordName(0), (key) => key.includes(`/${recordKind.plural}/`));
  await pattern.copyTo(Array.from({ length: records - 1 }, (_, index) => recordName(index + 1)));
  const store = kubernetesRollupStore({ client: admin, namespace: NAMESPACE });
  for (let ago = 0; ago < DAYS; ago += 1) {
    const summary = ago === 0 ? undefined : daySummary();
    const day = at(Date.now() - ago * DAY_MS).slice(0, 10);
    await store.create(day, { slots: slotsOf(ago < 3 ? 5 : 60), writers: {}, summary });
  }
}

function usageSince(createdMs: number) {
  const amounts = [0, 500, 1_000, 0, 1_000];
  return amounts.map((cpuMillicores, index) => ({
    since: new Date(createdMs + index * 36e5).toISOString(),
    cpuMillicores,
    memoryMebibytes: 2 * cpuMillicores,
    storageMebibytes: 2048,
  }));
}

function daySummary(): PeriodSummary {
  const part = (share: number) => ({
    ...NO_TOTALS,
    created: share,
    succeeded: share,
    deleted: share,
    thereSeconds: share * 86400,
    knownSeconds: share * 86400,
    cpu: share * 864e5,
    memory: share * 1728e5,
    storage: share * 1728e5,
  });
  const rows = (count: number) =>
    new Map(Array.from({ length: count }, (_, index) => [`row-${index}`, part(DELETED_A_DAY / count)] as const));
  const by = Object.fromEntries(DIMENSIONS.map((dimension) => [dimension, rows(ROWS[dimension])]));
  return { total: part(DELETED_A_DAY), by: by as unknown as PeriodSummary["by"], peak: DELETED_A_DAY };
}

function slotsOf(minutes: number) {
  const counters = ["requests", "request_errors", "webhooks", "webhook_acted", "webhook_ignored", "reconcile_errors"];
  const durations = ["webhook_ms", "reconcile_ms"].flatMap((name) => [5, 10, 25, 50, 100].map((ms) => `${name}.${ms}`));
  const counts = Object.fromEntries([...counters, ...durations].map((name) => [name, 7]));
  const begins = Array.from({ length: 1_440 / minutes }, (_, index) => clockTime(index * minutes));
  return Object.fromEntries(begins.map((begin) => [begin, counts]));
}

const clockTime = (minute: number) =>
  [minute / 60, minute % 60].map((part) => String(Math.trunc(part)).padStart(2, "0")).join(":");

interface Requested {
  readonly url: string;
  readonly probesUrl: string;
  readonly authorization: string;
  readonly seconds: number;
}

/** Measures each dashboard beside a server that sends as many bytes as all of them; and a scrape. */
export async function measureDashboards(openings: Openings, requested: Requested): Promise<readonly Verdict[]> {
  const { url, authorization, seconds } = requested;
  const replies = await Promise.all(PATHS.map((path) => call(url + path, { authorization })));
  const bytes = replies.map((reply) => Buffer.byteLength(reply));
  const idle = await openings.open(startIdleServer());
  const rate = { authorization, perSecond: PER_SECOND };
  const path = (index: number) => PATHS[index % PATHS.length] ?? "";
  const ofPlatform = { ...rate, url, path };
  const ofIdle = {
    ...rate,
    url: idle.url,
    path: (index: number) => `${path(index)}?bytes=${bytes[index % PATHS.length]}`,
  };
  for (const one of [ofIdle, ofPlatform]) await load({ ...one, seconds: WARM_UP_SECONDS });
  const [plain, reported]: [Sample[], Sample[]] = [[], []];
  for (const _turn of [1, 2]) {
    plain.push(...(await load({ ...ofIdle, seconds: seconds / 2 })));
    reported.push(...(await load({ ...ofPlatform, seconds: seconds / 2 })));
  }
  // The plain server takes equally long for each size: of one size alone, the 99th percentile is the third longest.
  const quiet = plain.map(({ ms }) => ms);
  const verdict = (of: string, at: number): Verdict => {
    const figures = reported.filter(({ path }) => path === of).map(({ ms }) => ms);
    return {
      what: `${of}, p99, beside a server that sends as many bytes as all dashboards`,
      limit: 5,
      unit: "×",
      figure: quantile(figures, 0.99) / quantile(quiet, 0.99),
      detail: `${spread(figures)}, ${bytes[at]} bytes; that server, for all dashboards: ${spread(quiet)}`,
    };
  };
  return [...PATHS.map(verdict), ...(await measureScrapes(requested))];
}

async function measureScrapes({ probesUrl }: Requested): Promise<readonly Verdict[]> {
  const probe = () => call(`${probesUrl}/livez`, {});
  const scrape = () => call(`${probesUrl}/metrics`, {});
  const { length } = await scrape();
  const alone: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < 20; round += 1) {
    alone.push(...(await inTurn(5, probe)));
    const scraped = inTurn(1, scrape);
    beside.push(...(await inTurn(1, probe)));
    await scraped;
  }
  const stalls = `a probe beside a scrape ${spread(beside)}; alone ${spread(alone)}`;
  return [
    { what: "bytes of a scrape", figure: length / 1e6, limit: 1, unit: "MB", detail: `${length} bytes` },
    {
      what: "a probe that is sent with a scrape, p50, beside one alone",
      limit: 20,
      unit: "×",
      figure: median(beside) / median(alone),
      detail: stalls,
    },
  ];
}
