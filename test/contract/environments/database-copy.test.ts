import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  configSetFixture,
  environmentFixture,
  repositoryFixture,
} from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

const chart = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main", values: "a: ${backend.image}" };
const access = { groups: ["shop"] };
const repositories = [
  repositoryFixture("shop-api", { access }),
  repositoryFixture("mapped-api", { access, chart }),
  repositoryFixture("open-api", { access: { groups: ["shop", "guests"] } }),
];
const configSets = [configSetFixture("stored", { database: { enabled: true } })];
const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };
const seed = { image: "registry.test/shop/seed:2026-11", path: "/seed/data.sql", format: "sql" };
const UID_OF_STAGING = "11111111-2222-4333-8444-555555555555";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService({ repositories, configSets });
  const known = (name: string, spec: object, uid?: string) =>
    service.environments.put(environmentFixture({ metadata: { name, ...(uid && { uid }) }, spec: { ...spec } }));
  known("staging", { access, database: { provision: true } }, UID_OF_STAGING);
  known("plain", { access, database: { provision: false } }, "11111111-2222-4333-8444-666666666666");
  known(
    "hidden",
    { access: { groups: ["others"] }, database: { provision: true } },
    "11111111-2222-4333-8444-777777777777",
  );
});
afterEach(() => service.stop());

const authorization = () => service.bearer("developer");

async function create(body: object) {
  return service.http
    .post("/api/v2/environments")
    .set({ authorization: await authorization() })
    .send({ ...minimal, ...body });
}

const made = () => service.environments.find("feature-test");

describe("a creation with a copy of another environment's database", () => {
  test.each([
    ["by its name", { provision_database: true, database_from: "staging" }],
    ["by its id, in any case", { provision_database: true, database_from: UID_OF_STAGING.toUpperCase() }],
    ["for the database of its config set", { config_set: "stored", database_from: "staging" }],
  ])("names it %s, and tells of none before it is made", async (_, body) => {
    const reply = await create(body);
    expect(reply.status).toBe(200);
    expect((await made())?.spec.database).toEqual({ provision: true, from: { environment: "staging" } });
    const detail = await service.http
      .get("/api/v2/environments/feature-test")
      .set({ authorization: await authorization() });
    expect(detail.body.data).toMatchObject({ database_seed: null, database_from: null });
  });

  test.each<[what: string, body: object, words: string]>([
    ["that has no database", { database_from: "staging" }, "database_from: needs a database"],
    [
      "with a seed, too",
      { provision_database: true, database_from: "staging", database_seed: seed },
      "database_from: can't be given beside database_seed",
    ],
    [
      "whose chart has values of its own",
      { backend_repo: "mapped-api", provision_database: true, database_from: "staging" },
      "database_from: is nothing that a chart with values of its own can load",
    ],
    [
      "from nowhere",
      { provision_database: true, database_from: "" },
      "database_from: must be the name or the id of an environment",
    ],
    ...["nowhere", "hidden", "not a name"].map((name): [string, object, string] => [
      `from '${name}'`,
      { provision_database: true, database_from: name },
      "database_from: names no environment that you can see",
    ]),
    [
      "from one without a database",
      { provision_database: true, database_from: "plain" },
      "database_from: names an environment without a database",
    ],
    [
      "that is for more groups than its source",
      { backend_repo: "open-api", provision_database: true, database_from: "staging" },
      "database_from: names an environment that not everyone may see who may see this one",
    ],
  ])("%s is refused", async (_, body, words) => {
    const reply = await create(body);
    expectProblem(reply, 400, new RegExp(`^${words}`), "ENV_CONFIG_INVALID");
    expect(await made()).toBeUndefined();
  });

  test("shows its source once it is made", async () => {
    const status = { database: { made: true, from: { environment: "staging" } } };
    service.environments.put(environmentFixture({ metadata: { name: "copy" }, spec: { access }, status }));
    const reply = await service.http.get("/api/v2/environments/copy").set({ authorization: await authorization() });
    expect(reply.body.data).toMatchObject({ database_from: "staging", database_seed: null });
  });
});

describe("a config set", () => {
  const put = async (mask: readonly string[]) =>
    service.http
      .post("/api/config-sets")
      .set({ authorization: await service.bearer("admin") })
      .send({ name: "masked", database: { mask } });

  test("keeps the statements that mask copies", async () => {
    const mask = ["UPDATE people SET email = id || '@example.com'", "TRUNCATE sessions"];
    const reply = await put(mask);
    expect(reply.status).toBe(201);
    expect(reply.body.data.database).toEqual({ mask });
  });

  test("refuses a command of psql, which could run a program", async () => {
    expectProblem(await put(["\\! id"]), 400, /database\.mask\.0: must be a statement of SQL/, "ENV_CONFIG_INVALID");
  });
});
