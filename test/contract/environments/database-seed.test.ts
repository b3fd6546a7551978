import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import {
  configSetFixture,
  environmentFixture,
  repositoryFixture,
} from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

const chart = { repoUrl: "https://git.test/charts.git", path: "shop", revision: "main", values: "a: ${backend.image}" };
const repositories = [repositoryFixture("shop-api"), repositoryFixture("mapped-api", { chart })];
const configSets = [configSetFixture("stored", { database: { enabled: true } })];
const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };
const seed = { image: "registry.test/shop/seed:2026-11", path: "/seed/data.sql", format: "sql" };

let service: ApiService;
beforeEach(async () => {
  service = await startApiService({ repositories, configSets });
});
afterEach(() => service.stop());

async function create(body: object) {
  const authorization = await service.bearer("developer");
  return service.http
    .post("/api/v2/environments")
    .set({ authorization })
    .send({ ...minimal, ...body });
}

const made = () => service.environments.find("feature-test");

describe("a creation with a seed of its database", () => {
  test.each([
    ["asks for the database", { provision_database: true }],
    ["has one by its config set", { config_set: "stored" }],
  ])("that %s has both in its spec, and tells of no seed before it is loaded", async (_, body) => {
    const reply = await create({ ...body, database_seed: seed });
    expect(reply.status).toBe(200);
    expect((await made())?.spec.database).toEqual({ provision: true, seed });
    const authorization = await service.bearer("developer");
    const detail = await service.http.get("/api/v2/environments/feature-test").set({ authorization });
    expect(detail.body.data).toMatchObject({ database_seed: null });
  });

  test("in the backend's repository keeps that, and has its commit once it is loaded", async () => {
    const inGit = { git: "backend", path: "/seed/data.sql", format: "sql" } as const;
    const reply = await create({ provision_database: true, database_seed: { ...inGit, image: null } });
    expect(reply.status).toBe(200);
    expect((await made())?.spec.database).toEqual({ provision: true, seed: inGit });
    const loaded = { ...inGit, commit: "a".repeat(40) };
    const status = { database: { made: true, seed: loaded } };
    service.environments.put(environmentFixture({ metadata: { name: "feature-test" }, status }));
    const authorization = await service.bearer("admin");
    const detail = await service.http.get("/api/v2/environments/feature-test").set({ authorization });
    expect(detail.body.data).toMatchObject({ database_seed: loaded });
  });

  test.each<[what: string, body: object, words: string]>([
    ["that has no database", { database_seed: seed }, "database_seed: needs a database"],
    [
      "whose chart has values of its own",
      { backend_repo: "mapped-api", provision_database: true, database_seed: seed },
      "database_seed: is nothing that a chart with values of its own can load",
    ],
    [
      "whose image has neither a tag nor a digest",
      { provision_database: true, database_seed: { ...seed, image: "registry.test:5000/seed" } },
      "database_seed.image: must be an image with a tag or a digest",
    ],
    [
      "that is in an image and in git",
      { provision_database: true, database_seed: { ...seed, git: "backend" } },
      "database_seed: must have either an image or git",
    ],
    [
      "that is nowhere",
      { provision_database: true, database_seed: { path: seed.path, format: seed.format } },
      "database_seed: must have either an image or git",
    ],
    [
      "whose path is none of an image",
      { provision_database: true, database_seed: { ...seed, path: "../data.sql" } },
      "database_seed.path: must be the whole path of a file",
    ],
    [
      "in a format that nothing loads",
      { provision_database: true, database_seed: { ...seed, format: "csv" } },
      "database_seed.format",
    ],
  ])("%s is refused", async (_, body, words) => {
    const reply = await create(body);
    expectProblem(reply, 400, new RegExp(`^${words}`), "ENV_CONFIG_INVALID");
    expect(await made()).toBeUndefined();
  });
});

test("a config set keeps the seed of new databases", async () => {
  const authorization = await service.bearer("admin");
  const body = { name: "seeded", database: { enabled: true, seed } };
  const reply = await service.http.post("/api/config-sets").set({ authorization }).send(body);
  expect(reply.status).toBe(201);
  expect(reply.body.data.database).toEqual({ enabled: true, seed });
});
