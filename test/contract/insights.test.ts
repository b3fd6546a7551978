import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { RecordSpec } from "../../crds/environment/environment-record.ts";
import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { environmentFixture } from "../support/fixtures/environment/environment-fixture.ts";
import { type ApiService, PEOPLE, type Person, startApiService } from "../support/http/api-service.ts";

const costs = { currency: "EUR", cpuCoreHour: 1, memoryGibHour: 0.5, storageGibHour: 0.1, monthlyBudget: 100 };

let service: ApiService;
beforeAll(async () => {
  service = await startApiService({ settings: { costs } });
  for (const environment of living()) service.environments.put(environment);
  for (const record of recorded()) await service.records.keep(record);
});
afterAll(() => service.stop());

const subjectAt = ({ issuer }: ApiService, person: Person) => `${issuer.issuer}#${PEOPLE[person].sub}`;
const ownerAt = (of: ApiService, person: Person) => {
  const { email, name } = PEOPLE[person];
  return { subject: subjectAt(of, person), email, name };
};
const subject = (person: Person) => subjectAt(service, person);
const owner = (person: Person) => ownerAt(service, person);
const later = (instant: string, seconds: number) => new Date(Date.parse(instant) + seconds * 1000).toISOString();
const requested = (since: string, cpuMillicores: number) => [
  { since, cpuMillicores, memoryMebibytes: 0, storageMebibytes: 0 },
];

const AWAKE = { cpuMillicores: 2_000, memoryMebibytes: 0, storageMebibytes: 1_024 };
const AT_REST = { ...AWAKE, cpuMillicores: 0 };

interface Lived {
  readonly created: string;
  readonly readyAfterS?: number;
  readonly cpu: number;
  readonly spec: Partial<EphemeralEnvironment["spec"]>;
}

const environment = (name: string, { created, readyAfterS, cpu, spec }: Lived) =>
  environmentFixture({
    metadata: { name, uid: `uid-${name}`, creationTimestamp: created },
    spec: { backend: { repository: "shop-api", branch: "main" }, ttlHours: 24, ...spec },
    status: {
      phase: readyAfterS === undefined ? "failed" : "ready",
      usage: requested(created, cpu),
      ...(readyAfterS !== undefined && { readyAt: later(created, readyAfterS) }),
      ...(readyAfterS === undefined && { conditions: [BROKEN] }),
    },
  });

const BROKEN = {
  ...({ type: "Ready", status: "False", reason: "ImagePullFailed", message: "" } as const),
  lastTransitionTime: "2026-06-01T11:01:00Z",
};

const living = () => [
  environment("steady", {
    created: "2026-05-28T12:00:00Z",
    readyAfterS: 40,
    cpu: 1e3,
    spec: { owner: owner("developer"), ttlHours: 168 },
  }),
  environment("broken", {
    created: "2026-06-01T11:00:00Z",
    cpu: 500,
    spec: { owner: owner("stranger"), backend: { repository: "billing-api", branch: "main" } },
  }),
  environment("kept", {
    created: "2026-05-20T12:00:00Z",
    readyAfterS: 80,
    cpu: 100,
    spec: { owner: owner("colleague"), access: { groups: ["shop"] }, protected: true },
  }),
];

const record = (name: string, createdAt: string, deletedAt: string, more: Partial<RecordSpec>): RecordSpec => ({
  name,
  uid: `uid-${name}`,
  createdAt,
  reason: "deleted",
  deletedAt,
  teardownSeconds: 20,
  goneAt: later(deletedAt, 20),
  components: { backend: { repository: "shop-api", branch: "main", commit: "" } },
  ...more,
});

const recorded = () => [
  record("expired", "2026-05-10T00:00:00Z", "2026-05-12T00:00:00Z", {
    reason: "expired",
    readyAt: "2026-05-10T00:01:00Z",
    ttlHours: 48,
    owner: owner("developer"),
    trigger: { kind: "api" },
  }),
  // Created in the last millisecond of a month.
  record("gone", "2026-05-31T23:59:59.999Z", "2026-06-01T01:59:59.999Z", {
    failure: "ImagePullFailed",
    ttlHours: 24,
    owner: owner("developer"),
    trigger: { kind: "pull_request", provider: "", repository: "shop-api", number: 7 },
  }),
  record("long ago", "2026-04-01T00:00:00Z", "2026-04-02T00:00:00Z", { readyAt: "2026-04-01T00:01:00Z" }),
];

async function get(path: string, person: Person = "maintainer") {
  const authorization = await service.bearer(person);
  const { body } = await service.http.get(`/api/insights/${path}`).set({ authorization }).expect(200);
  return body.data;
}

const day = (all: readonly { readonly date: string }[], date: string) => all.find((one) => one.date === date);

describe("GET /api/insights/dashboard", () => {
  test("is exactly what became of environments", async () => {
    const { trends, ...dashboard } = await get("dashboard");
    expect(dashboard).toEqual({
      period: { from: "2026-05-02T12:00:00.500Z", to: "2026-06-01T12:00:00.500Z" },
      environments: { created: 5, deleted: 1, expired: 1, failed: 2, active: 3 },
      success_rate: 0.6,
      average_lifetime_hours: 25,
      average_provision_seconds: 60,
      peak_concurrent: 3,
      active_users: 3,
      total_cost: 125.3,
      total_cost_cents: 12530,
      currency: "EUR",
      cost_basis: "requests",
      cost_coverage: { known_percent: 88.5, allocated_percent: 0 },
      top_repositories: [
        { id: "shop-api", environments: 4 },
        { id: "billing-api", environments: 1 },
      ],
    });
    expect(day(trends, "2026-05-31")).toEqual({ date: "2026-05-31", created: 1, deleted: 0, failed: 1 });
    expect(day(trends, "2026-06-01")).toEqual({ date: "2026-06-01", created: 1, deleted: 1, failed: 1 });
    expect(day(trends, "2026-05-12")).toEqual({ date: "2026-05-12", created: 0, deleted: 1, failed: 0 });
  });

  test.each([
    ["the last millisecond of the month", "2026-05-31T23:59:59.999Z", "2026-06-01T00:00:00Z", 1],
    ["all before it", "2026-05-31T00:00:00Z", "2026-05-31T23:59:59.999Z", 0],
    [
      "the same day in a zone where it is June already",
      "2026-06-01T00:00:00%2B02:00",
      "2026-06-02T00:00:00%2B02:00",
      2,
    ],
  ])("in %s", async (_what, from, to, created) => {
    expect((await get(`dashboard?from=${from}&to=${to}`)).environments.created).toBe(created);
  });

  test("is reported by weeks, too, which begin on Monday", async () => {
    const { trends } = await get("dashboard?from=2026-05-25T00:00:00Z&to=2026-06-08T00:00:00Z&interval=week");
    expect(trends).toEqual([
      { date: "2026-05-25", created: 2, deleted: 0, failed: 1 },
      { date: "2026-06-01", created: 1, deleted: 1, failed: 1 },
    ]);
  });

  test("of a time without environments has no numbers that do not exist", async () => {
    expect(await get("dashboard?from=2025-01-01T00:00:00Z&to=2025-02-01T00:00:00Z")).toMatchObject({
      environments: { created: 0, deleted: 0, expired: 0, failed: 0, active: 0 },
      success_rate: null,
      average_lifetime_hours: null,
      average_provision_seconds: null,
      peak_concurrent: 0,
      active_users: 0,
      total_cost: 0,
      top_repositories: [],
      trends: [],
    });
  });
});

describe("GET /api/insights/environments/analytics", () => {
  test("groups environments by what they have in common", async () => {
    const { series, period: _, ...analytics } = await get("environments/analytics");
    const group = (id: string | null, more: object) => ({ id, kind: id === null ? "none" : "named", ...more });
    expect(analytics).toEqual({
      by_status: { creating: 0, building: 0, updating: 0, ready: 2, failed: 1, terminating: 0 },
      by_repository: [
        group("shop-api", { created: 4, deleted: 2, failed: 1, success_rate: 0.75, average_lifetime_hours: 25 }),
        group("billing-api", { created: 1, deleted: 0, failed: 1, success_rate: 0, average_lifetime_hours: null }),
      ],
      by_trigger: { api: 1, pull_request: 1, pipeline: 0, manifest: 0, canary: 0, kubectl: 3 },
      by_config_set: [
        group(null, { created: 5, deleted: 2, failed: 2, success_rate: 0.6, average_lifetime_hours: 25 }),
      ],
      ttl: { average_hours: 57.6, median_hours: 24, longest_hours: 168 },
      failure_reasons: [{ reason: "ImagePullFailed", environments: 2 }],
      stale: [
        { id: "uid-kept", name: "kept", repository: "shop-api", unchanged_hours: 288, expires_at: null },
        {
          id: "uid-steady",
          name: "steady",
          repository: "shop-api",
          unchanged_hours: 96,
          expires_at: "2026-06-04T12:00:00.000Z",
        },
      ],
    });
    expect(day(series, "2026-06-01")).toEqual({
      date: "2026-06-01",
      created: 1,
      succeeded: 0,
      failed: 1,
      deleted: 1,
      expired: 0,
    });
  });

  test("names only what the caller may see", async () => {
    const { stale } = await get("environments/analytics", "viewer");
    expect(stale.map(({ name }: { name: string }) => name)).toEqual(["kept"]);
  });
});

describe("GET /api/insights/users/activity", () => {
  const user = (person: Person, created: number, total_cost: number, last_created_at: string) => ({
    id: subject(person),
    email: PEOPLE[person].email,
    name: PEOPLE[person].name,
    created,
    active_environments: 1,
    total_cost,
    last_created_at,
    basis: "requests",
    coverage: { known_percent: 100, allocated_percent: 0 },
  });

  test("names everybody for a maintainer", async () => {
    const { users, series, total_users, active_users } = await get("users/activity");
    const [first, ...others] = users;
    expect(first).toEqual({
      ...user("developer", 3, 96, "2026-05-31T23:59:59.999Z"),
      coverage: { known_percent: 65.75, allocated_percent: 0 },
    });
    expect(others).toHaveLength(2);
    expect(others).toContainEqual(user("colleague", 1, 28.8, "2026-05-20T12:00:00.000Z"));
    expect(others).toContainEqual(user("stranger", 1, 0.5, "2026-06-01T11:00:00.000Z"));
    expect({ total_users, active_users }).toEqual({ total_users: 3, active_users: 3 });
    expect(day(series, "2026-05-31")).toEqual({ date: "2026-05-31", active_users: 1 });
  });

  test("names others the caller alone", async () => {
    expect((await get("users/activity", "stranger")).users).toEqual([
      user("stranger", 1, 0.5, "2026-06-01T11:00:00.000Z"),
    ]);
    expect(await get("users/activity", "stranger")).toMatchObject({ total_users: 1, active_users: 1 });
    expect(await get("users/activity", "viewer")).toMatchObject({ users: [], total_users: 0, active_users: 0 });
  });
});

describe("GET /api/insights/costs/analysis", () => {
  test("groups costs, and recommends what saves the most", async () => {
    expect(await get("costs/analysis?group_by=creator")).toMatchObject({
      currency: "EUR",
      basis: "requests",
      coverage: { known_percent: 88.5 },
      group_by: "creator",
      groups: [
        { id: subject("developer"), total_cents: 9600 },
        { id: subject("colleague"), total_cents: 2880 },
        { id: subject("stranger"), total_cents: 50 },
      ],
      waste: {
        environments: 3,
        saving: 155.5,
        saving_cents: 15550,
        by_reason: { failed: 1, unchanged: 1, protected: 1 },
      },
      forecast: { budget: { limit: 100, state: "at_risk" } },
      recommendations: [
        { environment: { name: "kept" }, reason: "protected", action: "unprotect", saving: 72 },
        { environment: { name: "steady" }, reason: "unchanged", action: "suspend", saving: 72 },
        { environment: { id: "uid-broken", name: "broken" }, reason: "failed", action: "delete", saving: 11.5 },
      ],
    });
  });

  test.each(["repository", "creator", "config_set", "trigger"])("by %s adds up to the whole", async (dimension) => {
    for (const person of ["maintainer", "developer", "viewer"] as const) {
      const { groups } = await get(`costs/analysis?group_by=${dimension}`, person);
      const sum = groups.reduce(
        (cents: number, one: { total_cents: number | null }) => cents + (one.total_cents ?? 0),
        0,
      );
      expect({ person, sum }).toEqual({ person, sum: 12_530 });
    }
  });

  test("recommends nothing about what the caller may not see", async () => {
    const { recommendations, waste } = await get("costs/analysis", "developer");
    expect(recommendations.map(({ environment: { name } }: { environment: { name: string } }) => name)).toEqual([
      "kept",
      "steady",
    ]);
    expect(waste).toMatchObject({ environments: 2, saving: 144 });
  });
});

describe("GET /api/insights/sleep", () => {
  let sleepers: ApiService;
  beforeAll(async () => {
    sleepers = await startApiService({ settings: { costs } });
    const created = "2026-05-30T12:00:00Z";
    const developer = ownerAt(sleepers, "developer");
    const asleep = (name: string, group: string) =>
      environmentFixture({
        metadata: { name, uid: `uid-${name}`, creationTimestamp: created },
        spec: { owner: developer, access: { groups: [group] }, ttlHours: 168 },
        status: {
          phase: "ready",
          readyAt: created,
          sleep: { state: "asleep", since: "2026-06-01T10:00:00Z", cause: "idle", afterIdleMinutes: 60 },
          usage: [
            { since: created, ...AWAKE },
            { since: "2026-05-31T20:00:00Z", ...AT_REST },
            { since: "2026-06-01T06:00:00Z", ...AWAKE },
            { since: "2026-06-01T10:00:00Z", ...AT_REST },
          ],
          sleeps: [
            {
              since: "2026-05-31T20:00:00Z",
              cause: "schedule",
              awake: AWAKE,
              until: "2026-06-01T06:00:00Z",
              wokenBy: "schedule",
              awakeAt: "2026-06-01T06:01:00Z",
            },
            { since: "2026-06-01T10:00:00Z", cause: "idle", awake: AWAKE },
          ],
        },
      });
    sleepers.environments.put(asleep("nightly", "shop"));
    sleepers.environments.put(environment("open", { created, readyAfterS: 40, cpu: 1_000, spec: { ttlHours: 720 } }));
    const shortly = { created, readyAfterS: 40, cpu: 1_000, spec: { owner: developer, ttlHours: 96 } };
    sleepers.environments.put(environment("short", shortly));
    sleepers.environments.put(environment("never", { ...shortly, spec: { ...shortly.spec, sleep: {} } }));
    sleepers.environments.put(environment("resting", { ...shortly, spec: { ...shortly.spec, suspended: true } }));
    await sleepers.records.keep(
      record("gone", "2026-05-29T00:00:00Z", "2026-05-30T00:00:00Z", {
        owner: developer,
        sleeps: [{ since: "2026-05-29T22:00:00Z", cause: "person" }],
      }),
    );
  });
  afterAll(() => sleepers.stop());

  const sleep = async (query = "", person: Person = "maintainer") => {
    const authorization = await sleepers.bearer(person);
    const { body } = await sleepers.http.get(`/api/insights/sleep${query}`).set({ authorization }).expect(200);
    return body.data;
  };

  test("is what sleep saved, by cause and by day, and what it could", async () => {
    const { series, possible, ...known } = await sleep();
    expect(known).toEqual({
      period: { from: "2026-05-02T12:00:00.500Z", to: "2026-06-01T12:00:00.500Z" },
      currency: "EUR",
      // 14 of five times 48 hours and of the 24 of one that is gone.
      asleep: { hours: 14, percent: 5.3, by_cause: { schedule: 10, idle: 2, person: 2 } },
      // Two cores for twelve hours; what the third had requested is not known.
      saved: { total: 24, total_cents: 2_400, known_percent: 85.71 },
      group_by: "repository",
      groups: [{ id: "shop-api", kind: "named", asleep_hours: 14, saved: 24, saved_cents: 2_400 }],
    });
    expect(day(series, "2026-05-29")).toEqual({ date: "2026-05-29", asleep_hours: 2, saved: null, saved_cents: null });
    expect(day(series, "2026-05-31")).toMatchObject({ asleep_hours: 4, saved_cents: 800 });
    expect(day(series, "2026-06-01")).toMatchObject({ asleep_hours: 8, saved_cents: 1_600 });
    // A core for 113 of 168 hours, and for that share of the 48 until the expiry.
    expect(possible).toEqual({
      assumed_awake: "Mon-Fri 08:00-19:00",
      environments: 2,
      saving: 145.29,
      saving_cents: 14_529,
      greatest: [
        { id: "uid-open", name: "open", saving: 113, saving_cents: 11_300 },
        { id: "uid-short", name: "short", saving: 32.29, saving_cents: 3_229 },
      ],
    });
  });

  test("of a part of a sleep is that part, and what sleeps costs its volumes alone", async () => {
    const query = "?from=2026-06-01T00:00:00Z&to=2026-06-01T05:00:00Z";
    expect(await sleep(query)).toMatchObject({ asleep: { hours: 5 }, saved: { total_cents: 1_000 } });
    const authorization = await sleepers.bearer("maintainer");
    const path = `/api/observability/costs/dashboard${query}`;
    const { top_environments } = (await sleepers.http.get(path).set({ authorization }).expect(200)).body.data;
    const cost = top_environments.find(({ name }: { name: string }) => name === "nightly");
    expect(cost).toMatchObject({ total_cost: 0.5 });
  });

  test("groups by what environments have in common, and names only what the caller may see", async () => {
    expect((await sleep("?group_by=creator&interval=week")).groups).toEqual([
      { id: subjectAt(sleepers, "developer"), kind: "named", asleep_hours: 14, saved: 24, saved_cents: 2_400 },
    ]);
    const { groups, possible } = await sleep("?group_by=creator", "viewer");
    expect(groups).toEqual([{ id: null, kind: "other", asleep_hours: 14, saved: 24, saved_cents: 2_400 }]);
    expect(possible).toMatchObject({ environments: 0, saving: 0, greatest: [] });
    expect((await sleep("", "developer")).possible.greatest).toMatchObject([{ name: "short" }]);
  });

  test("of a time without environments has no numbers that do not exist", async () => {
    expect(await sleep("?from=2025-01-01T00:00:00Z&to=2025-02-01T00:00:00Z")).toMatchObject({
      asleep: { hours: 0, percent: null },
      saved: { total: null, total_cents: null, known_percent: null },
      groups: [],
      series: [],
    });
  });
});
