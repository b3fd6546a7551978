import { expect, test } from "@jest/globals";
import { costReport } from "../../../../../api/costs/report.ts";
import { toCostSummary } from "../../../../../api/costs/views.ts";
import { completeRecord, type EnvironmentRecord } from "../../../../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../../../../crds/environment/ephemeral-environment.ts";
import { createUsageParts } from "../../../../../crds/usage/usage-parts.ts";
import {
  type CostAllocationDependencies,
  createCostReconciler,
} from "../../../../../operator/controllers/cost-allocation/reconcile.ts";
import { environmentRecord } from "../../../../../operator/controllers/environment/deletion/record.ts";
import { CostMonitorUnavailable } from "../../../../../operator/ports/cost-monitor.ts";
import { summarizeDays } from "../../../../../operator/rollups/daily-summaries.ts";
import { memoryCostMonitor } from "../../../../support/doubles/memory/costs/cost-monitor.ts";
import { memoryRollupStore } from "../../../../support/doubles/memory/costs/rollups.ts";
import { memoryRecords } from "../../../../support/doubles/memory/records.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { environmentFixture, fixtureSettings } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const HOUR = 3_600_000;
const never = new AbortController().signal;
const ms = (instant: string) => Date.parse(`2026-${instant}Z`);

/** Awake, an hour costs 1 by its requests, and 0.76 by OpenCost. */
const settings = {
  ...fixtureSettings,
  costs: { currency: "EUR", cpuCoreHour: 1, memoryGibHour: 0, storageGibHour: 0 },
};
const openCost = { url: "http://opencost:9003", resolutionHours: 1 };
const HOURLY = { cpu: 50_000, memory: 20_000, storage: 5_000, other: 1_000 };
const change = (since: string, cpuMillicores: number) => ({
  since: `2026-${since}Z`,
  cpuMillicores,
  memoryMebibytes: 0,
  storageMebibytes: 0,
});
const environment = (uid: string, usage: readonly ReturnType<typeof change>[]) =>
  environmentFixture({
    metadata: { name: "shop", uid, creationTimestamp: usage[0]?.since ?? "" },
    status: { phase: "ready", usage: [...usage] },
  });

/** The platform from hour to hour; twenty minutes past each it reads OpenCost, and sums up days. */
function platform() {
  const clock = new TestClock("2026-03-28T20:20:00.000Z");
  const costMonitor = memoryCostMonitor();
  const records = memoryRecords();
  const store = memoryRollupStore();
  let there: EphemeralEnvironment | undefined;
  let days: Awaited<ReturnType<typeof store.list>> = [];
  const caches = {
    environments: { list: () => (there === undefined ? [] : [there]) },
    records: { list: () => records.list().map((spec) => ({ spec }) as EnvironmentRecord) },
  };
  const dependencies: CostAllocationDependencies = {
    settings: { ...settings, costs: { ...settings.costs, openCost } },
    environment: () => there,
    environments: { reread: async () => there },
    statusWriter: {
      async writeStatus(written: EphemeralEnvironment, status: EphemeralEnvironment["status"]) {
        there = { ...written, ...(status && { status }) };
        return there;
      },
    },
    caches,
    records,
    costMonitor,
    clock,
    log: silentLog,
  };
  const reconcileContext = { signal: never, requeueUrgently: () => undefined };
  const usageRecords = () =>
    createUsageParts()(
      caches.environments.list(),
      caches.records.list().map((record) => completeRecord(record)),
    ).flat();
  const sources = { rollups: { days: () => days }, settings };
  /** Another leader each hour: nothing may depend on one's memory. */
  async function hour(): Promise<void> {
    clock.advance(HOUR);
    await createCostReconciler(dependencies)("", reconcileContext).catch((error: unknown) => {
      if (!(error instanceof CostMonitorUnavailable)) throw error;
    });
    const summarize = summarizeDays({
      clock,
      rollupStore: store,
      rollupDays: sources.rollups,
      caches,
    });
    await summarize(never);
    days = await store.list(never);
  }
  return {
    costMonitor,
    records,
    be(environmentNow: EphemeralEnvironment) {
      there = environmentNow;
    },
    async end(goneAt: string) {
      if (there === undefined) throw new Error("there is none");
      const deleted = { ...there, metadata: { ...there.metadata, deletionTimestamp: goneAt } };
      await records.keep(environmentRecord(deleted, { steps: [], goneAt: new Date(goneAt), services: [] }));
      there = undefined;
    },
    async until(instant: string) {
      while (clock.now().getTime() + HOUR <= ms(instant)) await hour();
    },
    summary: (from: string, to: string) => {
      const [sum, now] = [costReport({ from, to }, sources), clock.now()];
      return toCostSummary(sum.whole([sum.ofPart(usageRecords(), now)], now), settings.costs);
    },
  };
}

test("a history with OpenCost gives exactly the expected costs", async () => {
  const world = platform();
  const { costMonitor } = world;
  const isAsleep = (at: number) => at >= ms("03-29T00:00:00") && at < ms("03-29T06:00:00");
  for (let at = ms("03-28T20:00:00"); at < ms("04-01T03:00:00"); at += HOUR) {
    if (!isAsleep(at)) costMonitor.knows({ namespace: "env-shop", at: new Date(at).toISOString(), cost: HOURLY });
  }
  // OpenCost never answers for three hours of the day of the European clock change.
  costMonitor.fails(({ fromMs }) => fromMs >= ms("03-29T12:00:00") && fromMs < ms("03-29T15:00:00"));

  world.be(
    environment("first", [
      change("03-28T20:30:00", 1_000),
      change("03-29T00:00:00", 0),
      change("03-29T06:00:00", 1_000),
    ]),
  );
  await world.until("03-30T01:20:00");
  await world.end("2026-03-30T01:15:00.000Z");
  world.be(environment("second", [change("03-30T01:40:00", 1_000)]));
  await world.until("04-01T03:20:00");

  const day = (date: string) =>
    world.summary(`${date}T00:00:00Z`, new Date(Date.parse(date) + 24 * HOUR).toISOString());
  const expected = [
    // Four hours for 0.76 each.
    [day("2026-03-28"), { basis: "opencost", total_cost: 3.04 }, { known_percent: 100, allocated_percent: 100 }],
    // Suspended for six hours; 15 hours for 0.76, and three by requests.
    [day("2026-03-29"), { basis: "mixed", total_cost: 14.4 }, { known_percent: 100, allocated_percent: 62.5 }],
    // 23 hours for 0.76. An hour was of both, 15 and 20 minutes: by requests.
    [day("2026-03-30"), { basis: "mixed", total_cost: 18.06 }, { known_percent: 100, allocated_percent: 97.53 }],
    [day("2026-03-31"), { basis: "opencost", total_cost: 18.24 }, { known_percent: 100, allocated_percent: 100 }],
    // Three hours for 0.76, and twenty minutes that are not reported yet.
    [day("2026-04-01"), { basis: "mixed", total_cost: 2.61 }, { known_percent: 100, allocated_percent: 90 }],
  ] as const;
  for (const [reported, figures, coverage] of expected) expect(reported).toMatchObject({ ...figures, coverage });

  const march = () => world.summary("2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z");
  const reports = march();
  // 66 hours for 0.76, and 3 hours 35 minutes for 1 an hour.
  expect(reports).toMatchObject({
    total_cost: 53.74,
    by_resource: { cpu: 36.58, memory: 13.2, storage: 3.3, other: 0.66 },
  });
  // The same month in Berlin ends over two hours earlier.
  expect(world.summary("2026-03-01T00:00:00+01:00", "2026-04-01T00:00:00+02:00").total_cost).toBe(52.22);

  world.records.forget();
  expect(march()).toMatchObject({ total_cost: 53.74, coverage: reports.coverage });
});
