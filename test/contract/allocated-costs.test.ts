import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import type { Allocations } from "../../crds/usage/allocations.ts";
import { summaryOf } from "../../crds/usage/period-summary.ts";
import { usageOfEnvironment, usageOfRecord } from "../../crds/usage/usage-record.ts";
import { environmentFixture } from "../support/fixtures/environment/environment-fixture.ts";
import { type ApiService, startApiService } from "../support/http/api-service.ts";

/** An hour of a core costs 1. */
const costs = { currency: "EUR", cpuCoreHour: 1, memoryGibHour: 0.5, storageGibHour: 0.1 };
const requests = (since: string) => [{ since, cpuMillicores: 1_000, memoryMebibytes: 0, storageMebibytes: 0 }];

/** A day for 15.75. */
const allocated: Allocations = [
  {
    from: "2026-05-31T00:00:00.000Z",
    to: "2026-06-01T00:00:00.000Z",
    cpu: 12e5,
    memory: 3e5,
    storage: 5e4,
    other: 25e3,
  },
];

const living = environmentFixture({
  metadata: { name: "living", uid: "uid-living", creationTimestamp: "2026-05-31T00:00:00Z" },
  spec: { backend: { repository: "shop-api", branch: "main" }, ttlHours: 48 },
  status: { phase: "ready", usage: requests("2026-05-31T00:00:00Z"), allocations: allocated },
});

/** An environment without a quota count; ten hours for 5.013. */
const gone: RecordSpec = {
  name: "gone",
  uid: "uid-gone",
  reason: "deleted",
  teardownSeconds: 0,
  createdAt: "2026-05-30T10:00:00Z",
  deletedAt: "2026-05-30T20:00:00Z",
  goneAt: "2026-05-30T20:00:00Z",
  components: { backend: { repository: "billing-api", branch: "main", commit: "" } },
  allocations: [
    { from: "2026-05-30T10:00:00.000Z", to: "2026-05-30T20:00:00.000Z", cpu: 501300, memory: 0, storage: 0, other: 0 },
  ],
};

let service: ApiService;
beforeAll(async () => {
  service = await startApiService({ settings: { costs } });
  service.environments.put(living);
  await service.records.keep(gone);
});
afterAll(() => service.stop());

async function get(path: string) {
  const authorization = await service.bearer("maintainer");
  const { body } = await service.http.get(`/api/${path}`).set({ authorization }).expect(200);
  return body.data;
}
const summary = (query = "") => get(`observability/costs/summary${query}`);

describe("costs of which OpenCost said what was allocated", () => {
  test("are that, and the rest is priced by requests", async () => {
    expect(await summary()).toMatchObject({
      basis: "mixed",
      total_cost: 32.76,
      total_cents: 3276,
      by_resource: { cpu: 29.01, memory: 3, storage: 0.5, other: 0.25 },
      coverage: { known_percent: 100, allocated_percent: 73.91 },
    });
  });

  test.each([
    ["a day that is wholly allocated", "2026-05-31T00:00:00Z/2026-06-01T00:00:00Z", ["opencost", 15.75]],
    ["a quarter of it", "2026-05-31T06:00:00Z/2026-05-31T12:00:00Z", ["opencost", 3.94]],
    ["a time after what was allocated", "2026-06-01T01:00:00Z/2026-06-01T03:00:00Z", ["requests", 2]],
    ["a time before and after", "2026-05-31T12:00:00Z/2026-06-01T12:00:00Z", ["mixed", 19.88]],
    ["an environment whose quota never counted", "2026-05-30T00:00:00Z/2026-05-31T00:00:00Z", ["opencost", 5.01]],
  ])("of %s", async (_what, window, [basis, total_cost]) => {
    const [from, to] = window.split("/");
    expect(await summary(`?from=${from}&to=${to}`)).toMatchObject({ basis, total_cost });
  });

  test("add up in every row, and each environment says what its cost was computed from", async () => {
    const { by_repository, timeseries, top_environments } = await get("observability/costs/dashboard");
    const cents = (rows: { total_cents: number }[]) => rows.map(({ total_cents }) => total_cents);
    expect(cents(by_repository)).toEqual([2_775, 501]);
    expect(cents(timeseries.slice(-3))).toEqual([501, 1_575, 1_200]);
    expect(top_environments).toMatchObject([
      { name: "living", total_cost: 27.75, basis: "mixed", coverage: { known_percent: 100, allocated_percent: 66.67 } },
      { name: "gone", total_cost: 5.01, basis: "opencost", coverage: { known_percent: 100, allocated_percent: 100 } },
    ]);
  });

  test("are in the environment's detail", async () => {
    // An hour costs 1, and 12 of its 48 hours are left.
    expect((await get("v2/environments/living")).cost).toMatchObject({
      basis: "mixed",
      actual: 27.75,
      per_hour: 1,
      forecast: 39.75,
      coverage: { known_percent: 100, allocated_percent: 66.67 },
    });
  });

  test("stay when the resources go", async () => {
    const records = [usageOfEnvironment(living), usageOfRecord(gone)];
    for (const day of ["2026-05-30", "2026-05-31"]) {
      const fromMs = Date.parse(`${day}T00:00:00Z`);
      service.rollups.sumUp(
        day,
        summaryOf(records, { fromMs, toMs: fromMs + 86_400_000 }, service.clock.now().getTime()),
      );
    }
    service.records.forget();
    const days = "?from=2026-05-30T00:00:00Z&to=2026-06-01T00:00:00Z";
    expect(await summary(days)).toMatchObject({
      basis: "opencost",
      total_cost: 20.76,
      by_resource: { cpu: 17.01, memory: 3, storage: 0.5, other: 0.25 },
      coverage: { known_percent: 100, allocated_percent: 100 },
    });
  });
});
