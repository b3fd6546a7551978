import { describe, expect, test } from "@jest/globals";
import { configSetFixture } from "../../support/fixtures/environment/environment-fixture.ts";
import { expectProblem } from "../../support/http/api-promises.ts";
import type { Person } from "../../support/http/api-service.ts";
import { managedConfigSets, PATH, whole } from "./managed-config-sets.ts";

const sets = managedConfigSets();
const { call } = sets;

describe("replacing a config set", () => {
  test("replaces all of it and raises its version", async () => {
    await call("post", PATH, { name: "web", ...whole });
    const { body } = await call("put", `${PATH}/web`, { description: "other" });
    expect(body.data).toMatchObject({
      description: "other",
      version: 2,
      env: [],
      helm_values: {},
      created_by: "mai@example.test",
    });
    expect(Date.parse(body.data.updated_at)).toBeGreaterThan(Date.parse(body.data.created_at));
  });

  test("leaves the version when nothing changes: writing it back as it was read is no change", async () => {
    const { body } = await call("post", PATH, { name: "web", ...whole });
    const {
      id: _,
      is_default: __,
      version: ___,
      used_by: ____,
      created_by,
      created_at,
      updated_at,
      ...content
    } = body.data;
    expect([created_by, created_at, updated_at]).not.toContain(undefined);
    expect((await call("put", `${PATH}/web`, content)).body.data).toEqual(body.data);
  });

  test("leaves values of the chart, which this interface does not have, as kubectl wrote them", async () => {
    const values = "a: ${backend.image}";
    sets.service.configSets.put(configSetFixture("mapped", { values, description: "one" }));
    await call("put", `${PATH}/mapped`, { description: "other" });
    expect(sets.service.configSets.find("mapped")?.spec).toEqual({ values, description: "other" });
  });

  // Abuse case 103.
  test("keeps references to secrets of other teams, and refuses new ones from a caller outside their groups", async () => {
    const kept = { env: [{ name: "PAY", secret_ref: { name: "billing-key", key: "1" } }] };
    const reply = await call("put", `${PATH}/billing-set`, { ...kept, ttl_default_hours: 2 });
    expect(reply.body.data).toMatchObject({ ...kept, ttl_default_hours: 2 });
    for (const changed of [
      { name: "OTHER", secret_ref: { name: "billing-key", key: "1" } },
      { name: "PAY", secret_ref: { name: "billing-key", key: "2" } },
    ]) {
      const refused = await call("put", `${PATH}/billing-set`, { env: [changed] });
      expectProblem(refused, 400, /^env\.0\.secret_ref\.name: .* a group of yours/, "ENV_CONFIG_INVALID");
    }
    expect(sets.service.configSets.find("billing-set")?.spec.env).toMatchObject([{ secretRef: { key: "1" } }]);
  });

  test("is refused with another name", async () => {
    const reply = await call("put", `${PATH}/open`, { name: "shut" });
    expectProblem(reply, 400, "name: can't be changed", "ENV_CONFIG_INVALID");
  });

  test("is refused with its violations, as a creation is", async () => {
    const reply = await call("put", `${PATH}/open`, { env: [{ name: "A" }] });
    expectProblem(reply, 400, /^env\.0: /, "ENV_CONFIG_INVALID");
  });

  test.each(["absent", "UPPER", "__proto__"])("answers that there is no %s", async (id) => {
    expectProblem(await call("put", `${PATH}/${id}`, {}), 404, "Config set not found");
  });
});

describe("deleting a config set", () => {
  test("removes it", async () => {
    const reply = await call("delete", `${PATH}/open`);
    expect(reply.body).toMatchObject({ status: "success", data: { message: "Config set 'open' deleted" } });
    expectProblem(await call("delete", `${PATH}/open`), 404, "Config set not found");
  });

  test("is refused while environments have it", async () => {
    const backend = { repository: "open-api", branch: "main" };
    await sets.service.environments.create("one", { backend, configSet: { name: "open" } });
    await sets.service.environments.create("two", { backend, configSet: { name: "open" } });
    const reply = await call("delete", `${PATH}/open`);
    expectProblem(reply, 409, "The config set is in use: 2 environments have it");
    expect((await call("get", `${PATH}/open`)).body.data).toMatchObject({ used_by: 2 });
    for (const name of ["one", "two"]) sets.service.environments.finishRemoval(name);
    expect((await call("delete", `${PATH}/open`)).status).toBe(200);
  });
});

describe("no config set is deleted", () => {
  test("that an environment has of which this replica has not heard", async () => {
    const backend = { repository: "open-api", branch: "main" };
    await sets.service.environments.create("one", { backend, configSet: { name: "open" } });
    sets.service.environments.list = () => [];
    expectProblem(await call("delete", `${PATH}/open`), 409, /^The config set is in use: 1 /);
    expect(sets.service.configSets.find("open")).toBeDefined();
  });

  test("while the API server can't be asked for its uses", async () => {
    sets.service.environments.setReachable(false);
    expectProblem(await call("delete", `${PATH}/open`), 503);
    expect(sets.service.configSets.find("open")).toBeDefined();
  });

  test("that environments get by default", async () => {
    expectProblem(await call("delete", `${PATH}/shop-set`), 409, "The config set is the default one");
    expect(sets.service.configSets.find("shop-set")).toBeDefined();
  });
});

describe("reading config sets", () => {
  const names = async (as: Person, query = "") => {
    const { body } = await call("get", `${PATH}${query}`, undefined, as);
    return { ...body.data, items: body.data.items.map(({ id }: { id: string }) => id) };
  };

  test("lists those that the caller may use, by name, and counts no others", async () => {
    expect(await names("developer")).toEqual({ items: ["open", "shop-set"], total: 2, limit: 50, offset: 0 });
    expect(await names("stranger")).toMatchObject({ items: ["billing-set", "open"], total: 2 });
    expect(await names("maintainer")).toMatchObject({ items: ["billing-set", "open", "shop-set"], total: 3 });
  });

  test("lists them in pages", async () => {
    expect(await names("maintainer", "?limit=1&offset=1")).toEqual({ items: ["open"], total: 3, limit: 1, offset: 1 });
    const authorization = await sets.service.bearer("maintainer");
    expectProblem(await sets.service.http.get(`${PATH}?limit=101`).set({ authorization }), 400);
  });

  test("marks the one that environments get by default", async () => {
    expect((await call("get", `${PATH}/shop-set`)).body.data).toMatchObject({
      is_default: true,
      created_by: "manifest",
    });
    expect((await call("get", `${PATH}/open`)).body.data).toMatchObject({ is_default: false });
  });

  // Abuse cases 15 and 26.
  test("answers for other people's exactly as for none", async () => {
    const absent = await call("get", `${PATH}/absent`, undefined, "developer");
    expectProblem(absent, 404, "Config set not found");
    expect((await call("get", `${PATH}/billing-set`, undefined, "developer")).body).toEqual(absent.body);
  });

  test("shows no value of a secret, not even one in plain text", async () => {
    const env = [{ name: "SECRET_KEY", value: "hunter2" }];
    sets.service.configSets.put(configSetFixture("careless", { env, helmValues: { backend: { env } } }));
    const { body } = await call("get", `${PATH}/careless`);
    expect(body.data).toMatchObject({
      env: [{ name: "SECRET_KEY", value: "***" }],
      helm_values: { backend: { env: { SECRET_KEY: "***" } } },
    });
    expect(JSON.stringify((await call("get", PATH)).body)).not.toContain("hunter2");
  });
});

// Abuse case 23.
test.each<Person>(["outsider", "viewer", "developer"])("%s may change no config set", async (person) => {
  expectProblem(await call("post", PATH, { name: "web" }, person), 403);
  for (const id of ["open", "absent"]) {
    expectProblem(await call("put", `${PATH}/${id}`, {}, person), 403);
    expectProblem(await call("delete", `${PATH}/${id}`, undefined, person), 403);
  }
  expect(sets.service.configSets.list()).toHaveLength(3);
});

test("a creation with other people's config set is refused as with none", async () => {
  const authorization = await sets.service.bearer("developer");
  const body = { environment_name: "x-y-z", backend_repo: "open-api", backend_branch: "main" };
  const details = [];
  for (const config_set of ["billing-set", "billing-sex"]) {
    const reply = await sets.service.http
      .post("/api/environments")
      .set({ authorization })
      .send({ ...body, config_set });
    details.push(reply.body.detail.replace(config_set, "…"));
  }
  expect(details[0]).toBe(details[1]);
});
