import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { Condition } from "../../../crds/conditions.ts";
import type { EnvironmentSpec, EnvironmentStatus } from "../../../crds/environment/ephemeral-environment.ts";
import { CREATED, repositoryFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

const chart = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main", values: "a: ${backend.image}" };
const repositories = [repositoryFixture("shop-api"), repositoryFixture("mapped-api", { chart })];
const PATH = "/api/v2/environments/feature-test/database/reset";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService({ repositories });
});
afterEach(() => service.stop());

async function make(status: EnvironmentStatus, more: Partial<EnvironmentSpec> = { database: { provision: true } }) {
  const spec = { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] }, ...more };
  service.environments.put({ ...(await service.environments.create("feature-test", spec)), status });
}

async function reset() {
  const reply = await service.http.post(PATH).set("authorization", await service.bearer("developer"));
  expectPromised(reply, "post", "/api/v2/environments/{environment_id}/database/reset");
  return reply;
}

const database = async () => (await service.environments.find("feature-test"))?.spec.database;

const said = (status: Condition["status"], reason: string): Condition[] => [
  { type: "DatabaseReady", status, reason, message: "", lastTransitionTime: CREATED },
];
const seed = { image: "registry.test/seed:1", path: "/seed/data.sql", format: "sql" } as const;

describe("a reset of the database", () => {
  test("asks for the next one, and keeps the seed", async () => {
    await make({ database: { made: true, seed } }, { database: { provision: true, seed } });
    const reply = await reset();
    expect(reply.body.data).toMatchObject({ name: "feature-test", observed: false });
    expect(await database()).toEqual({ provision: true, seed, generation: 2 });
  });

  test("asks for the next one where the config set has decided that there is one", async () => {
    await make({ conditions: said("True", "Ready") }, {});
    expect((await reset()).status).toBe(200);
    expect(await database()).toEqual({ provision: true, generation: 2 });
  });

  test.each<[what: string, status: EnvironmentStatus]>([
    ["made for the first time", { conditions: said("Unknown", "Starting") }],
    ["made anew", { database: { made: true }, conditions: said("Unknown", "Seeding") }],
    ["about to be made anew, which the operator has not seen", { database: { made: true } }],
  ])("of one that is %s changes nothing", async (_, status) => {
    const former = { provision: true, generation: status.database ? 2 : 1 };
    await make(status, { database: former });
    expect((await reset()).status).toBe(200);
    expect(await database()).toEqual(former);
  });

  test("after a failed seed asks for another one", async () => {
    const failed = { database: { made: true }, conditions: said("False", "SeedFailed") };
    await make(failed, { database: { provision: true, seed, generation: 2 } });
    expect((await reset()).status).toBe(200);
    expect(await database()).toEqual({ provision: true, seed, generation: 3 });
  });

  test.each<[what: string, more: Partial<EnvironmentSpec>, words: RegExp]>([
    ["no database", { database: { provision: false } }, /has no database/],
    [
      "a chart with values of its own",
      { backend: { repository: "mapped-api", branch: "main" }, database: { provision: true } },
      /chart has values of its own/,
    ],
  ])("is refused where there is %s", async (_, more, words) => {
    await make({}, more);
    const before = await database();
    expectProblem(await reset(), 409, words);
    expect(await database()).toEqual(before);
  });
});
