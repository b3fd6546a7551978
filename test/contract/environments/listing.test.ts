import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { EnvironmentSpec, Phase } from "../../../crds/environment/ephemeral-environment.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeAll(async () => {
  service = await startApiService();
  await have("alpha-one", "2026-06-01T10:00:00Z", { groups: ["shop"], phase: "ready" });
  await have("alpha-two", "2026-06-01T11:00:00Z", { groups: ["shop"], phase: "building" });
  await have("beta-b", "2026-06-01T09:00:00Z", { groups: ["shop"], phase: "failed" });
  await have("beta-a", "2026-06-01T09:00:00Z", { groups: ["shop"], phase: "updating" });
  await have("gone-soon", "2026-06-01T08:00:00Z", { groups: ["shop"], phase: "ready", isLeaving: true });
  await have("brand-new", "2026-06-01T07:00:00Z", { groups: ["shop"] });
  await have("alpha-secret", "2026-06-01T12:00:00Z", { groups: ["billing"], phase: "ready" });
  await have("alpha-lonely", "2026-06-01T06:00:00Z", { groups: [], phase: "ready" });
});
afterAll(() => service.stop());

interface Traits {
  readonly groups: readonly string[];
  readonly phase?: Phase;
  readonly isLeaving?: boolean;
}

async function have(name: string, creationTimestamp: string, { groups, phase, isLeaving }: Traits) {
  const spec: EnvironmentSpec = { backend: { repository: "r", branch: "main" }, access: { groups: [...groups] } };
  const made = await service.environments.create(name, spec);
  const leaving = isLeaving ? { deletionTimestamp: "2026-06-01T11:59:00Z" } : {};
  service.environments.put({
    ...made,
    metadata: { ...made.metadata, creationTimestamp, ...leaving },
    ...(phase === undefined ? {} : { status: { phase } }),
  });
}

const shared = ["alpha-two", "alpha-one", "beta-a", "beta-b", "gone-soon", "brand-new"];

async function list(query = "", as: Person = "developer", path = "/api/environments") {
  return service.http.get(`${path}${query}`).set("authorization", await service.bearer(as));
}
async function names(query = "", as: Person = "developer") {
  const reply = await list(query, as);
  expectPromised(reply, "get", "/api/environments");
  return reply.body.environments.map(({ name }: { name: string }) => name);
}

describe("the list of environments", () => {
  test("has the contract's fields and no others, the newest first", async () => {
    const reply = await list("?limit=1");
    expect(reply.body).toEqual({
      environments: [
        {
          id: expect.any(String),
          name: "alpha-two",
          status: "building",
          urls: { backend: "https://alpha-two--api.env.example.test:18443" },
          created_at: "2026-06-01T11:00:00.000Z",
          expires_at: "2026-06-02T11:00:00.000Z",
          creator: { email: "", name: "manifest" },
        },
      ],
      total: 6,
      limit: 1,
      offset: 0,
    });
    expect(await names()).toEqual(shared);
  });

  test("is wrapped in version 2, where each has more", async () => {
    const v1 = await list("?limit=2");
    const v2 = await list("?limit=2", "developer", "/api/v2/environments");
    const more = {
      protected: false,
      protected_until: null,
      suspended: false,
      sleep: null,
      repositories: expect.anything(),
      progress: expect.anything(),
    };
    const environments = v1.body.environments.map((environment: object) => ({ ...environment, ...more }));
    const data = { ...v1.body, environments };
    expect(v2.body).toEqual({ status: "success", data, timestamp: service.clock.now().toISOString() });
    expectPromised(v2, "get", "/api/v2/environments");
  });

  test.each<[Person, readonly string[]]>([
    ["colleague", shared],
    ["viewer", shared],
    ["stranger", ["alpha-secret"]],
    ["maintainer", ["alpha-secret", ...shared, "alpha-lonely"]],
    ["admin", ["alpha-secret", ...shared, "alpha-lonely"]],
  ])("shows and counts for the %s only what they see", async (person, expected) => {
    expect(await names("", person)).toEqual(expected);
    expect((await list("?search=alpha&limit=1", person)).body.total).toBe(
      expected.filter((name) => name.includes("alpha")).length,
    );
  });

  test.each([
    ["?status=ready", ["alpha-one"]],
    ["?status=creating", ["brand-new"]],
    ["?status=building", ["alpha-two"]],
    ["?status=updating", ["beta-a"]],
    ["?status=failed", ["beta-b"]],
    ["?status=terminating", ["gone-soon"]],
    ["?search=ALPHA", ["alpha-two", "alpha-one"]],
    ["?search=a-", ["alpha-two", "alpha-one", "beta-a", "beta-b"]],
    ["?search=(a%2B)%2B$", []],
    ["?search=.*", []],
    ["?search=%25", []],
    ["?search=&status=", shared],
    ["?created_after=2026-06-01T10:00:00Z", ["alpha-two", "alpha-one"]],
    ["?created_after=2026-06-01T12:30:00%2B02:00", ["alpha-two"]],
    ["?created_after=2026-06-01T12:30:00+02:00", ["alpha-two"]],
    ["?created_after=20260601T123000+0200", ["alpha-two"]],
    ["?created_after=20260601T103000Z", ["alpha-two"]],
    ["?created_after=2026-06-01T10:30:00", ["alpha-two"]],
    ["?created_before=2026-06-01T09:00:00.000Z", ["gone-soon", "brand-new"]],
    ["?created_after=2026-06-01&created_before=2026-06-01T08:00:00Z", ["brand-new"]],
    ["?created_after=2026-06-01T09:00:00Z&search=beta&status=failed", ["beta-b"]],
    ["?limit=2&offset=2", ["beta-a", "beta-b"]],
    ["?offset=5", ["brand-new"]],
    ["?offset=1000000000", []],
  ])("%s selects %j", async (query, expected) => {
    expect(await names(query)).toEqual(expected);
  });

  test.each([
    "limit=101",
    "limit=0",
    "limit=-1",
    "limit=1e9",
    "limit=ten",
    "limit=1.5",
    "limit=0x10",
    "limit=+5",
    "offset=-1",
    "offset=1e15",
    "offset=1000000000000000",
    "offset=9999999999999999999",
    "status=unknown",
    "status=READY",
    "created_after=yesterday",
    "created_after=2026-13-01",
    "created_before=1e9",
    "limit=1&limit=2",
    "sort=name",
    "__proto__=1",
    `search=${"x".repeat(254)}`,
  ])("?%s is refused", async (query) => {
    const reply = await list(`?${query}`);
    expectProblem(reply, 400);
    expectPromised(reply, "get", "/api/environments");
  });
});
