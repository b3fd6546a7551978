import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { DIMENSIONS } from "../../crds/usage/period-summary.ts";
import { type ApiService, PEOPLE, type Person, startApiService } from "../support/http/api-service.ts";
import { type Platform, platformOf } from "./moved-platform.ts";

/** An hour of a core costs 1, of a GiB of memory 0.50, of a GiB of volumes 0.10. */
const costs = { currency: "EUR", cpuCoreHour: 1, memoryGibHour: 0.5, storageGibHour: 0.1, monthlyBudget: 100 };

let service: ApiService;
let people: Platform;

async function get(path: string, person: Person = "maintainer") {
  const authorization = await service.bearer(person);
  const reply = await service.http.get(`/api/${path}`).set({ authorization });
  expect({ path, status: reply.status }).toEqual({ path, status: 200 });
  return reply.body.data;
}

/** The whole period: Europe's clocks are set back on the first night, America's on that after the month's end. */
const WHOLE = "from=2026-10-24T00:00:00Z&to=2026-11-02T12:00:00Z";
const berlin = "from=2026-10-01T00:00:00%2B02:00&to=2026-11-01T00:00:00%2B01:00";
const newYork = "from=2026-10-01T00:00:00-04:00&to=2026-11-01T00:00:00-04:00";

let reported: { readonly sleeping: { readonly cost: object } };

beforeAll(async () => {
  service = await startApiService({ settings: { costs } });
  people = platformOf(service);
  const { at, creates, requests, becomesReady } = people;

  await at("2026-10-24T20:00:00Z");
  await creates("developer", "steady", "shop-api", 96);
  await at("2026-10-24T20:00:36Z");
  await requests("steady", "1", "2Gi", "10Gi");
  await at("2026-10-24T20:00:45Z");
  await becomesReady("steady");
  // From 3 to 4 an hour, half an hour before Europe's clocks are set back; suspended, its volumes cost 1 an hour.
  await at("2026-10-25T00:30:00Z");
  await requests("steady", "2", "2Gi", "10Gi");
  await at("2026-10-25T06:30:00Z");
  await people.suspends("developer", "steady", true);
  await requests("steady", "0", "0", "10Gi");
  await at("2026-10-25T12:00:00Z");
  reported = { sleeping: await get("v2/environments/steady", "developer") };
  await at("2026-10-26T06:30:00Z");
  await people.suspends("developer", "steady", false);
  await requests("steady", "2000m", "2048Mi", "10Gi");
  await at("2026-10-28T10:00:00Z");
  await people.extends("developer", "steady", 168);
  await at("2026-10-31T20:00:05Z");
  await people.expires("steady");
  await at("2026-10-31T20:00:35Z");
  await people.isGone("steady");

  await at("2026-10-31T23:00:00Z");
  await creates("stranger", "broken", "billing-api", 24);
  await at("2026-10-31T23:00:10Z");
  await requests("broken", "500m", "0", "0");
  await at("2026-10-31T23:04:00Z");
  await people.fails("broken", "ImagePullFailed");

  await at("2026-10-31T23:58:00Z");
  await creates("colleague", "late", "open-api", 72);
  await at("2026-10-31T23:58:30Z");
  await requests("late", "1", "0", "0");
  await at("2026-11-01T00:02:00Z");
  await becomesReady("late");
  await at("2026-11-01T01:00:00Z");
  await people.deletes("stranger", "broken");
  await at("2026-11-01T01:00:20Z");
  await people.isGone("broken");
  await at("2026-11-02T12:00:00Z");
});
afterAll(() => service.stop());

test("a sleeping environment's own cost is reported to the cent, and what it is going to cost until its expiry", () => {
  // 4.49 hours for 3, 6 for 4, 5.5 for 1; 80 hours are left.
  expect(reported.sleeping.cost).toMatchObject({ actual: 42.97, per_hour: 1, forecast: 122.97 });
});

/** Figures from records, and again from the sums of days alone. */
const FIGURES: readonly (readonly [what: string, path: string, expected: object])[] = [
  ["all of it", `costs/summary?${WHOLE}`, { total_cost: 632.54, active_environments: 1 }],
  ["October", "costs/summary?from=2026-10-01&to=2026-11-01", { total_cost: 596.03 }],
  ["November so far", "costs/summary?from=2026-11-01&to=2026-11-02T12:00:00Z", { total_cost: 36.5 }],
  [
    "each day",
    `costs/dashboard?${WHOLE}`,
    {
      timeseries: [
        ["2026-10-24", 1_197],
        ["2026-10-25", 4_300],
        ["2026-10-26", 7_650],
        ["2026-10-27", 9_600],
        ["2026-10-28", 9_600],
        ["2026-10-29", 9_600],
        ["2026-10-30", 9_600],
        ["2026-10-31", 8_056],
        ["2026-11-01", 2_451],
        ["2026-11-02", 1_200],
      ].map(([date, total_cents]) => ({ date, total_cents })),
      by_repository: [
        { id: "shop-api", total_cents: 59_551, created: 1 },
        { id: "open-api", total_cents: 3_603, created: 1 },
        { id: "billing-api", total_cents: 100, created: 1 },
      ],
      budget: { limit: 100, used: 36.5, used_percent: 36.5, state: "at_risk" },
    },
  ],
  [
    "weeks",
    `costs/dashboard?${WHOLE}&interval=week`,
    {
      timeseries: [
        { date: "2026-10-19", total_cents: 5_497 },
        { date: "2026-10-26", total_cents: 56_557 },
        { date: "2026-11-02", total_cents: 1_200 },
      ],
    },
  ],
];

describe.each(["by resources and records", "by the sums of days, once the records are dropped"])("%s", (by) => {
  if (by !== "by resources and records") beforeAll(() => people.forgetsRecords());

  test.each(FIGURES)("%s costs what was requested", async (_what, path, expected) => {
    expect(await get(`observability/${path}`)).toMatchObject(expected);
  });

  test("insights report what became of each", async () => {
    expect(await get(`insights/dashboard?${WHOLE}`)).toMatchObject({
      environments: { created: 3, deleted: 1, expired: 1, failed: 1, active: 1 },
      success_rate: 0.6667,
      average_provision_seconds: 142.5,
      average_lifetime_hours: 85,
      peak_concurrent: 2,
      active_users: 3,
      total_cost_cents: 63254,
    });
    const { trends } = await get("insights/dashboard?from=2026-10-31&to=2026-11-02");
    expect(trends).toEqual([
      { date: "2026-10-31", created: 2, deleted: 1, failed: 1 },
      { date: "2026-11-01", created: 0, deleted: 1, failed: 0 },
    ]);
  });

  test.each(["maintainer", "developer", "stranger", "viewer"] as const)(
    "whatever a %s may see, parts are the whole in every drill-down",
    async (person) => {
      const sum = (rows: readonly { readonly total_cents: number | null }[]) =>
        rows.reduce((cents, { total_cents }) => cents + (total_cents ?? 0), 0);
      for (const dimension of DIMENSIONS) {
        const { groups } = await get(`insights/costs/analysis?${WHOLE}&group_by=${dimension}`, person);
        expect({ dimension, cents: sum(groups) }).toEqual({ dimension, cents: 63_254 });
      }
      const { by_creator, by_repository, by_config_set, timeseries } = await get(
        `observability/costs/dashboard?${WHOLE}`,
        person,
      );
      for (const rows of [by_creator, by_repository, by_config_set, timeseries]) expect(sum(rows)).toBe(63_254);
      const named = by_creator.flatMap(({ id }: { readonly id: string | null }) => id ?? []);
      const oneself = `${service.issuer.issuer}#${PEOPLE[person].sub}`;
      if (person !== "maintainer") expect(named.filter((id: string) => id !== oneself)).toEqual([]);
      else expect(named).toHaveLength(3);
    },
  );

  // Only records cover a part of a day.
  if (by !== "by resources and records") return;

  test.each([
    ["October in Berlin, which ends an hour before UTC's", berlin, 595.51],
    ["October in New York, which ends four hours after UTC's", newYork, 600.54],
    ["a day of 25 hours in New York", "from=2026-11-01T00:00:00-04:00&to=2026-11-02T00:00:00-05:00", 25],
    ["a day of 25 hours in Berlin", "from=2026-10-25T00:00:00%2B02:00&to=2026-10-26T00:00:00%2B01:00", 48],
  ])("%s costs what was requested in it", async (_what, period, total_cost) => {
    expect(await get(`observability/costs/summary?${period}`)).toMatchObject({ total_cost });
  });

  test("the month is projected from the last seven days", async () => {
    // 36.50 so far, and 684 hours like the last 168, which cost 549.07.
    expect(await get("observability/costs/summary")).toMatchObject({ projected_month: 2_271.98 });
  });

  test("service levels judge each once, where it began", async () => {
    const scores = async (period: string) => {
      const { objectives } = await get(`observability/slo/status?${period}`);
      const all = objectives as readonly { readonly id: string; readonly good: number; readonly total: number }[];
      return Object.fromEntries(all.map(({ id, good, total }) => [id, [good, total]]));
    };
    // Broken failed, late was ready after 240 seconds; steady was deleted 5 seconds after its expiry.
    expect(await scores(WHOLE)).toMatchObject({ creation: [1, 3], deletion: [2, 2], expiry: [1, 1] });
    expect(await scores("from=2026-10-01&to=2026-11-01")).toMatchObject({
      creation: [1, 3],
      deletion: [1, 1],
      expiry: [1, 1],
    });
    expect(await scores("from=2026-11-01&to=2026-11-02")).toMatchObject({
      creation: [0, 0],
      deletion: [1, 1],
      expiry: [0, 0],
    });
    expect(await scores(berlin)).toMatchObject({ creation: [1, 1], deletion: [1, 1] });
  });
});
