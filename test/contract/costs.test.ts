import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import { summaryOf } from "../../crds/usage/period-summary.ts";
import type { Usage } from "../../crds/usage/usage.ts";
import { usageOfRecord } from "../../crds/usage/usage-record.ts";
import { environmentFixture } from "../support/fixtures/environment/environment-fixture.ts";
import { expectPromised } from "../support/http/api-promises.ts";
import { type ApiService, PEOPLE, type Person, startApiService } from "../support/http/api-service.ts";

/** An hour of a core costs 1, of a GiB of memory 0.50, of a GiB of volumes 0.10. */
const costs = { currency: "EUR", cpuCoreHour: 1, memoryGibHour: 0.5, storageGibHour: 0.1, monthlyBudget: 100 };

const from = (since: string, cpuMillicores: number, memoryMebibytes = 0, storageMebibytes = 0): Usage[number] => ({
  since,
  cpuMillicores,
  memoryMebibytes,
  storageMebibytes,
});

let service: ApiService;
beforeAll(async () => {
  service = await startApiService({ settings: { costs } });
  const owner = ({ sub, email, name }: (typeof PEOPLE)[Person]) => ({
    subject: `${service.issuer.issuer}#${sub}`,
    email,
    name,
  });
  const environment = (name: string, person: Person, { usage, repository }: { usage: Usage; repository: string }) =>
    environmentFixture({
      metadata: { name, uid: `uid-${name}`, creationTimestamp: usage[0]?.since ?? "" },
      spec: {
        backend: { repository, branch: "main" },
        owner: owner(PEOPLE[person]),
        ttlHours: 72,
        ...(repository === "billing-api" && { configSet: { name: "plain" } }),
      },
      status: { phase: "ready", usage },
    });
  // 3 an hour for a day, and 4 an hour since it was resized.
  service.environments.put(
    environment("steady", "developer", {
      repository: "shop-api",
      usage: [from("2026-05-30T12:00:00Z", 1_000, 2_048, 10_240), from("2026-05-31T12:00:00Z", 2_000, 2_048, 10_240)],
    }),
  );
  // Suspended for twelve hours.
  service.environments.put(
    environment("sleeper", "stranger", {
      repository: "billing-api",
      usage: [
        from("2026-05-31T00:00:00Z", 1_000),
        from("2026-05-31T06:00:00Z", 0),
        from("2026-05-31T18:00:00.900Z", 1_000),
      ],
    }),
  );
  await service.records.keep({
    ...record("gone", "2026-05-29T22:00:00Z", "2026-05-30T04:00:00Z"),
    usage: [from("2026-05-29T22:00:00Z", 500)],
    owner: owner(PEOPLE.developer),
    components: { backend: { repository: "shop-api", branch: "main", commit: "" } },
  });
  await service.records.keep(record("unknown", "2026-05-29T00:00:00Z", "2026-05-29T10:00:00Z"));
  await service.records.keep({
    ...record("spring", "2026-03-20T00:00:00Z", "2026-04-02T00:00:00Z"),
    usage: [from("2026-03-20T00:00:00Z", 1_000)],
  });
});
afterAll(() => service.stop());

const record = (name: string, createdAt: string, goneAt: string): RecordSpec => ({
  name,
  uid: `uid-${name}`,
  createdAt,
  reason: "deleted",
  deletedAt: goneAt,
  goneAt,
  teardownSeconds: 0,
});

async function get(path: string, person: Person = "viewer") {
  const authorization = await service.bearer(person);
  const { body } = await service.http.get(`/api/observability/costs/${path}`).set({ authorization }).expect(200);
  return body.data;
}

describe("GET /api/observability/costs/summary", () => {
  test("is exactly what was requested, by the prices, and says what is not known", async () => {
    expect(await get("summary")).toEqual({
      currency: "EUR",
      basis: "requests",
      total_cost: 195,
      total_cents: 19500,
      active_environments: 2,
      window: { from: "2026-05-02T12:00:00.500Z", to: "2026-06-01T12:00:00.500Z" },
      by_resource: { cpu: 99, memory: 48, storage: 48, other: 0 },
      average_cost_per_environment: 48.75,
      projected_month: 881.79,
      previous_window: { total_cost: 0, change_percent: null },
      coverage: { known_percent: 90, allocated_percent: 0 },
    });
  });

  test("compares the window with the time before", async () => {
    expect(await get("summary?window=24h")).toMatchObject({
      total_cost: 114,
      active_environments: 2,
      average_cost_per_environment: 57,
      previous_window: { total_cost: 78, change_percent: 46.15 },
      coverage: { known_percent: 100 },
    });
  });

  test.each([
    [
      "two days of a zone in which the second is short",
      "2026-03-28T00:00:00%2B01:00",
      "2026-03-30T00:00:00%2B02:00",
      47,
    ],
    ["the turn of a month", "2026-03-31T23:00:00Z", "2026-04-01T01:00:00Z", 2],
    ["a second", "2026-03-31T23:59:59Z", "2026-04-01T00:00:00Z", 0],
    ["36 seconds, which cost a cent", "2026-03-31T23:59:24Z", "2026-04-01T00:00:00Z", 0.01],
    ["a time before anything was there", "2025-01-01T00:00:00Z", "2025-02-01T00:00:00Z", 0],
    ["a time of which nothing is known", "2026-05-29T00:00:00Z", "2026-05-29T10:00:00Z", null],
  ])("of %s", async (_what, begin, end, cost) => {
    expect(await get(`summary?from=${begin}&to=${end}`)).toMatchObject({ total_cost: cost });
  });
});

describe("GET /api/observability/costs/dashboard", () => {
  test("has each day, which add up to the whole", async () => {
    const { timeseries } = await get("dashboard");
    expect(timeseries.slice(-4)).toEqual([
      { date: "2026-05-29", total_cost: 1, total_cents: 100 },
      { date: "2026-05-30", total_cost: 38, total_cents: 3_800 },
      { date: "2026-05-31", total_cost: 96, total_cents: 9_600 },
      { date: "2026-06-01", total_cost: 60, total_cents: 6_000 },
    ]);
    expect(timeseries.slice(0, -4).every((day: { total_cents: number }) => day.total_cents === 0)).toBe(true);
  });

  test("has weeks, which add up to the whole, too", async () => {
    expect((await get("dashboard?interval=week")).timeseries.slice(-2)).toEqual([
      { date: "2026-05-25", total_cost: 135, total_cents: 13_500 },
      { date: "2026-06-01", total_cost: 60, total_cents: 6_000 },
    ]);
  });

  const named = (id: string | null, total_cost: number | null, created: number, kind = "named") => ({
    id,
    kind,
    total_cost,
    total_cents: total_cost === null ? null : total_cost * 100,
    created,
  });

  test("names everything for a maintainer", async () => {
    const subject = (sub: string) => `${service.issuer.issuer}#${sub}`;
    expect(await get("dashboard", "maintainer")).toMatchObject({
      by_repository: [named("shop-api", 171, 2), named("billing-api", 24, 1), named(null, null, 1, "none")],
      by_creator: [named(subject("dev"), 171, 2), named(subject("out"), 24, 1), named(null, null, 1, "none")],
      by_config_set: [named(null, 171, 3, "none"), named("plain", 24, 1)],
      top_environments: [
        { id: "uid-steady", name: "steady", status: "ready", repository: "shop-api", total_cost: 168 },
        { name: "sleeper", total_cost: 24, coverage: { known_percent: 100 } },
        { name: "gone", status: null, total_cost: 3 },
      ],
      budget: { limit: 100, used: 60, used_percent: 60, state: "at_risk" },
    });
  });

  test("names a developer alone, and the environments that they may see; the rest is one sum", async () => {
    expect(await get("dashboard", "developer")).toMatchObject({
      by_creator: [named(`${service.issuer.issuer}#dev`, 171, 2), named(null, 24, 2, "other")],
      top_environments: [{ name: "steady" }, { name: "gone" }],
    });
    expect((await get("dashboard", "viewer")).by_creator).toEqual([
      { ...named(null, 195, 4, "other"), basis: "requests", coverage: { known_percent: 90, allocated_percent: 0 } },
    ]);
    expect((await get("dashboard", "viewer")).top_environments).toEqual([]);
  });

  test("takes the sum of a day that was stored, when its records are dropped", async () => {
    const dropped = { ...record("old", "2026-04-10T00:00:00Z", "2026-04-10T06:00:00Z") };
    const used = usageOfRecord({ ...dropped, usage: [from("2026-04-10T00:00:00Z", 2_000)] });
    const day = { fromMs: Date.parse("2026-04-10T00:00:00Z"), toMs: Date.parse("2026-04-11T00:00:00Z") };
    service.rollups.sumUp("2026-04-10", summaryOf([used], day, service.clock.now().getTime()));
    const { summary, timeseries } = await get("dashboard?from=2026-04-09T00:00:00Z&to=2026-04-12T00:00:00Z");
    expect(summary).toMatchObject({ total_cost: 12, average_cost_per_environment: 12 });
    expect(timeseries.map(({ total_cost }: { total_cost: number }) => total_cost)).toEqual([0, 12, 0]);
  });
});

describe("the cost of one environment", () => {
  const report = async (name: string, person: Person) => {
    const authorization = await service.bearer(person);
    const { body } = await service.http.get(`/api/v2/environments/${name}`).set({ authorization }).expect(200);
    return body.data.cost;
  };

  test("is reported so far, by the hour, and until its expiry", async () => {
    expect(await report("steady", "developer")).toEqual({
      currency: "EUR",
      basis: "requests",
      actual: 168,
      per_hour: 4,
      since: "2026-05-30T12:00:00Z",
      forecast: 264,
      estimate: 228,
      coverage: { known_percent: 100, allocated_percent: 0 },
    });
  });

  test("is estimated in the answer to its creation; the contract's own answer stays as it is", async () => {
    const authorization = await service.bearer("developer");
    const create = (path: string, environment_name: string, backend_repo: string) =>
      service.http
        .post(path)
        .set({ authorization })
        .send({ environment_name, backend_repo, backend_branch: "main", ttl: 72 });
    const reply = await create("/api/v2/environments", "estimated", "shop-api");
    expectPromised(reply, "post", "/api/v2/environments");
    const nothing = { actual: null, per_hour: null, forecast: null, since: null };
    expect(reply.body.data.environment).toMatchObject({
      name: "estimated",
      cost: { currency: "EUR", basis: "requests", estimate: 228, ...nothing },
    });
    const former = await create("/api/environments", "plain", "shop-api");
    expectPromised(former, "post", "/api/environments");
    expect(former.body.environment).not.toHaveProperty("cost");
  });
});
