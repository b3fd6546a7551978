import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

const configSets = [
  configSetFixture("web", { ttlDefaultHours: 8, access: { groups: ["shop"] } }),
  configSetFixture("open", {}),
  configSetFixture("stored", { database: { enabled: true } }),
  configSetFixture("billing", { access: { groups: ["billing"] } }),
  configSetFixture("live", { production: true }),
];
const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };

let service: ApiService;
const start = async (settings: ServiceOptions["settings"] = {}) => {
  service = await startApiService({ configSets, settings });
};
afterEach(() => service.stop());

async function create(body: object, as: Person = "developer") {
  const authorization = await service.bearer(as);
  return service.http
    .post("/api/environments")
    .set({ authorization })
    .send({ ...minimal, ...body });
}

async function madeSpec() {
  return (await service.environments.find("feature-test"))?.spec;
}

describe("a creation that names a config set", () => {
  beforeEach(() => start());

  test("has it, and its TTL where it says none of its own", async () => {
    const reply = await create({ config_set: "web" });
    expect(reply.body.environment).toMatchObject({ ttl_hours: 8 });
    expect(await madeSpec()).toMatchObject({ ttlHours: 8, configSet: { name: "web" } });
    const authorization = await service.bearer("developer");
    const detail = await service.http.get("/api/environments/feature-test").set({ authorization });
    expect(detail.body.configuration).toMatchObject({ config_set: "web", database_provisioned: false });
  });

  test("keeps its own TTL", async () => {
    expect((await create({ config_set: "web", ttl: 3 })).body.environment).toMatchObject({ ttl_hours: 3 });
  });

  test("takes the TTL as usual where the config set says none", async () => {
    expect((await create({ config_set: "open" })).body.environment).toMatchObject({ ttl_hours: 24 });
  });

  test.each([
    ["gets the config set's database", {}, true],
    ["gets none when it says so", { provision_database: false }, false],
    ["gets the one that it asks for itself", { provision_database: true, config_set: "open" }, true],
  ])("%s", async (_what, body, provision) => {
    await create({ config_set: "stored", ...body });
    expect(await madeSpec()).toMatchObject({ database: { provision } });
  });

  test.each([
    ["is not there", "absent"],
    ["is other people's", "billing"],
    ["is for production", "live"],
    ["is no name at all", "../web"],
    ["is named by what JavaScript knows", "__proto__"],
  ])("that %s is refused, all alike", async (_what, name) => {
    const reply = await create({ config_set: name });
    expectProblem(reply, 400, `config_set: no config set '${name}' is registered`, "ENV_CONFIG_INVALID");
  });

  test("is refused with all else that is wrong", async () => {
    const reply = await create({ config_set: "absent", use_shared_api_keys: true });
    expectProblem(reply, 400, /config_set: .*use_shared_api_keys: /, "ENV_CONFIG_INVALID");
  });
});

describe("a creation that names no config set", () => {
  test("has none by itself", async () => {
    await start();
    await create({ config_set: "" });
    expect(await madeSpec()).not.toHaveProperty("configSet");
  });

  test("has the default one, and the contract's default TTL: only a set that is named has its own", async () => {
    await start({ defaultConfigSet: "web" });
    await create({});
    expect(await madeSpec()).toMatchObject({ ttlHours: 24, configSet: { name: "web" } });
  });

  test("has the TTL of the default one when that is named", async () => {
    await start({ defaultConfigSet: "web" });
    await create({ config_set: "web" });
    expect(await madeSpec()).toMatchObject({ ttlHours: 8, configSet: { name: "web" } });
  });

  test.each([["absent"], ["billing"], ["live"]])(
    "does without a default one that it may not use: %s",
    async (defaultConfigSet) => {
      await start({ defaultConfigSet });
      expect((await create({})).status).toBe(200);
      expect(await madeSpec()).not.toHaveProperty("configSet");
    },
  );
});

test("a TTL of a config set is held to the longest that the settings allow", async () => {
  await start({ ttl: { maximumHours: 4 } });
  expect((await create({ config_set: "web" })).body.environment).toMatchObject({ ttl_hours: 4 });
});
