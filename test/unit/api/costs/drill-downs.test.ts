import { expect, test } from "@jest/globals";
import fc from "fast-check";
import type { Caller } from "../../../../api/auth/access.ts";
import { toCostDashboard } from "../../../../api/costs/dashboard.ts";
import { costReport } from "../../../../api/costs/report.ts";
import { toCostAnalysis } from "../../../../api/insights/cost-analysis.ts";
import { cappedRows, DIMENSIONS, type Rows, summaryOf } from "../../../../crds/usage/period-summary.ts";
import type { UsageRecord } from "../../../../crds/usage/usage-record.ts";
import { memoryConfigSets } from "../../../support/doubles/memory/config-sets.ts";
import { aRepository, memoryRepositories } from "../../../support/doubles/memory/repositories.ts";
import { configSetFixture, fixtureSettings } from "../../../support/fixtures/environment/environment-fixture.ts";
import { aUsageRecord } from "../../../support/fixtures/random-usage-records.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const NOW = new Date(7 * DAY + 5 * HOUR);
const settings = {
  ...fixtureSettings,
  costs: { currency: "EUR", cpuCoreHour: 0.031, memoryGibHour: 0.0042, storageGibHour: 0.0001 },
};
/** Repositories with the group whose members see them. */
const REPOSITORIES = [
  ["shop", "team"],
  ["billing", "others"],
] as const;
const services = {
  settings,
  repositories: memoryRepositories(
    ...REPOSITORIES.map(([name, group]) => aRepository(name, { access: { groups: [group] } })),
  ),
  configSets: memoryConfigSets(
    configSetFixture("small"),
    configSetFixture("large", { access: { groups: ["others"] } }),
  ),
};

const aCaller = fc
  .record({
    subject: fc.constantFrom("ann", "bob", "eve"),
    groups: fc.subarray(["team", "others"]),
    seesAll: fc.boolean(),
  })
  .map(({ subject, groups, seesAll }) => {
    const permissions = new Set(seesAll ? ["environments:all"] : []);
    return { subject, groups, permissions, roles: [] } as unknown as Caller;
  });

/** Past days as the leader stores them: the remaining rows are one. */
function storedDays(records: readonly UsageRecord[], days: readonly number[]) {
  const capped = (rows: Rows) => cappedRows(rows, { most: 1, mostBytes: 1_000 });
  return days.map((index) => {
    const summary = summaryOf(records, { fromMs: index * DAY, toMs: (index + 1) * DAY }, NOW.getTime());
    const by = { ...summary.by, repository: capped(summary.by.repository), creator: capped(summary.by.creator) };
    return { day: new Date(index * DAY).toISOString().slice(0, 10), slots: {}, summary: { ...summary, by } };
  });
}

const requested = fc.record({
  records: fc.array(aUsageRecord, { maxLength: 40 }),
  stored: fc.subarray([0, 1, 2, 3, 4, 5, 6]),
  fromMs: fc.nat(3 * DAY),
  hours: fc.integer({ min: 1, max: 120 }),
  interval: fc.constantFrom("day" as const, "week" as const),
  caller: aCaller,
});

type Requested = typeof requested extends fc.Arbitrary<infer A> ? A : never;

function dashboardOf({ records, stored, fromMs, hours, interval, caller }: Requested) {
  const rollups = { days: () => storedDays(records, stored) };
  const [from, to] = [fromMs, fromMs + hours * HOUR].map((ms) => new Date(ms).toISOString()) as [string, string];
  const sum = costReport({ from, to }, { rollups, settings });
  const report = sum.whole([sum.ofPart(records, NOW)], NOW);
  const dashboard = toCostDashboard({ report, interval }, caller, services);
  const groups = DIMENSIONS.map(
    (dimension) => toCostAnalysis({ report, recommendations: [], dimension }, caller, services).groups,
  );
  return { ...dashboard, groups };
}

const centsOf = (parts: readonly { readonly total_cents: number | null }[]) =>
  parts.reduce((cents, { total_cents }) => cents + (total_cents ?? 0), 0);

test("the parts of every drill-down are the whole, to the cent, for every caller", () => {
  fc.assert(
    fc.property(requested, (all) => {
      const { summary, by_repository, by_creator, by_config_set, timeseries, groups } = dashboardOf(all);
      const whole = summary.total_cents ?? 0;
      const drillDowns = [by_repository, by_creator, by_config_set, timeseries, ...groups];
      expect(drillDowns.map(centsOf)).toEqual(drillDowns.map(() => whole));
      const resources = Object.values(summary.by_resource).map((amount) => Math.round((amount ?? 0) * 100));
      expect(resources.reduce((cents, one) => cents + one, 0)).toBe(whole);
    }),
    { numRuns: 300 },
  );
});

test("below maintainers only the caller is named, and no repository that the caller may not see", () => {
  const namesOf = (rows: readonly { readonly id: string | null }[]) => rows.flatMap(({ id }) => id ?? []);
  fc.assert(
    fc.property(requested, (all) => {
      const { subject, groups, permissions } = all.caller;
      fc.pre(!permissions.has("environments:all"));
      const { by_repository, by_creator } = dashboardOf(all);
      const hidden = REPOSITORIES.filter(([, group]) => !groups.includes(group)).map(([name]) => name);
      expect(namesOf(by_repository).filter((name) => [...hidden, "constructor"].includes(name))).toEqual([]);
      expect(namesOf(by_creator).filter((name) => name !== subject)).toEqual([]);
    }),
  );
});
