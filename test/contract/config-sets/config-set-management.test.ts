import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { ConfigInvalid } from "../../../crds/errors.ts";
import { configSetFixture } from "../../support/fixtures/environment-fixture.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

const PATH = "/api/config-sets";
const whole = {
  description: "Small, for a working day",
  production: true,
  helm_values: {
    backend: {
      env: { TRACE: "1", MAIL_KEY: { secretKeyRef: { name: "mail", key: "latest" } } },
      replicas: 2,
      resources: { requests: { cpu: "100m" }, limits: { memory: "512Mi" } },
      cache: { size: 1, parts: [null, { a: true }] },
    },
    frontend: { theme: "dark" },
  },
  env: [
    { name: "LOG_LEVEL", value: "info" },
    { name: "PAYMENT_URL", secret_ref: { name: "payment-sandbox", key: "3" } },
  ],
  shared_api_keys: [{ name: "PAYMENT_KEY", secret_ref: { name: "payment-sandbox", key: "latest" } }],
  database: { enabled: false, engine: "postgresql", version: "17.2", size_gi: 5 },
  quota: { cpu: "2", memory: "4Gi", storage: "10Gi", pods: 20 },
  ttl_default_hours: 8,
  access: { groups: ["shop"] },
};
const secrets = {
  shared: [
    { ids: ["mail", "payment-sandbox"], groups: ["shop", "maintainers"] },
    { ids: ["billing-key"], groups: ["billing"] },
  ],
};

let service: ApiService;
beforeEach(async () => {
  service = await startApiService({
    configSets: [
      configSetFixture("open"),
      configSetFixture("shop-set", { access: { groups: ["shop"] } }),
      configSetFixture("billing-set", {
        access: { groups: ["billing"] },
        env: [{ name: "PAY", secretRef: { name: "billing-key", key: "1" } }],
      }),
    ],
    settings: { defaultConfigSet: "shop-set", secrets },
  });
});
afterEach(() => service.stop());

async function call(method: "get" | "post" | "put" | "delete", path: string, body?: object, as: Person = "maintainer") {
  const authorization = await service.bearer(as);
  const reply = await service.http[method](path).set({ authorization }).send(body);
  const route = path.startsWith(`${PATH}/`) ? `${PATH}/{id}` : PATH;
  expectPromised(reply, method, route);
  return reply;
}

describe("making a config set", () => {
  test("answers 201 with all of it, and it can be read again", async () => {
    const made = await call("post", PATH, { name: "web", ...whole });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      status: "success",
      timestamp: expect.any(String),
      data: {
        id: "web",
        name: "web",
        ...whole,
        is_default: false,
        version: 1,
        used_by: 0,
        created_by: "mai@example.test",
        created_at: expect.any(String),
        updated_at: expect.any(String),
      },
    });
    expect((await call("get", `${PATH}/web`)).body.data).toEqual(made.body.data);
  });

  test("keeps it as the resource words it", async () => {
    await call("post", PATH, { name: "web", ...whole });
    expect(service.configSets.find("web")?.spec).toEqual({
      description: whole.description,
      production: true,
      helmValues: {
        backend: {
          ...{ replicas: 2, resources: whole.helm_values.backend.resources, cache: whole.helm_values.backend.cache },
          env: [
            { name: "TRACE", value: "1" },
            { name: "MAIL_KEY", secretRef: { name: "mail", key: "latest" } },
          ],
        },
        frontend: { theme: "dark" },
      },
      env: [
        { name: "LOG_LEVEL", value: "info" },
        { name: "PAYMENT_URL", secretRef: { name: "payment-sandbox", key: "3" } },
      ],
      sharedApiKeys: [{ name: "PAYMENT_KEY", secretRef: { name: "payment-sandbox", key: "latest" } }],
      database: { enabled: false, engine: "postgresql", version: "17.2", sizeGi: 5 },
      quota: whole.quota,
      ttlDefaultHours: 8,
      access: { groups: ["shop"] },
    });
  });

  test("needs no more than a name", async () => {
    const { body } = await call("post", PATH, { name: "web" });
    expect(body.data).toMatchObject({
      ...{ description: "", production: false, helm_values: {}, env: [], shared_api_keys: [], database: {}, quota: {} },
      access: { groups: [] },
    });
    expect(body.data).not.toHaveProperty("ttl_default_hours");
    expect(service.configSets.find("web")?.spec).toEqual({});
  });

  test.each(["default", "reload", "api", "kube-x"])("may be called %s", async (name) => {
    expect((await call("post", PATH, { name })).body.data).toMatchObject({ id: name, name });
    expect((await call("get", `${PATH}/${name}`)).status).toBe(200);
  });

  test("is refused under a name that is taken, also by one of other people", async () => {
    expectProblem(await call("post", PATH, { name: "billing-set" }), 409, "A config set of this name exists already");
  });

  test.each<[string, object, string]>([
    ["a field that it does not have", { id: "x" }, "id: is not a known field"],
    ["a name of an environment's rules", { name: "a--b" }, "name: must not contain '--'"],
    ["a variable without value", { env: [{ name: "A" }] }, "env.0: must have either a value or a secret_ref"],
    [
      "a variable with two sources",
      { env: [{ name: "A", value: "", secret_ref: { name: "mail", key: "1" } }] },
      "env.0: must have either a value or a secret_ref",
    ],
    [
      "a variable twice",
      {
        env: [
          { name: "A", value: "1" },
          { name: "A", value: "2" },
        ],
      },
      "env.1.name: A is given twice",
    ],
    [
      "a shared key twice",
      { shared_api_keys: [whole.shared_api_keys[0], whole.shared_api_keys[0]] },
      "shared_api_keys.1.name: PAYMENT_KEY is given twice",
    ],
    ["a bad variable's name", { env: [{ name: "A=B", value: "1" }] }, "env.0.name: must be the name of a variable"],
    [
      "a reference with a path",
      { env: [{ name: "A", secret_ref: { name: "projects/x/secrets/y", key: "latest" } }] },
      "env.0.secret_ref.name: must be the id of a secret",
    ],
    [
      "a reference to a version that is none",
      { env: [{ name: "A", secret_ref: { name: "mail", key: "0" } }] },
      "env.0.secret_ref.key: must be 'latest' or the number of a version",
    ],
    ["text instead of values", { helm_values: { backend: "image: x" } }, "helm_values.backend: must be an object"],
    ["values of no component", { helm_values: { global: {} } }, "helm_values.global: is not a known field"],
    [
      "too many replicas",
      { helm_values: { backend: { replicas: 21 } } },
      "helm_values.backend.replicas: must be <= 20",
    ],
    ["another database engine", { database: { engine: "oracle" } }, "database.engine: must be one of postgresql"],
    ["a database of no size", { database: { size_gi: 0 } }, "database.size_gi: must be >= 1"],
    ["a quota that is no amount", { quota: { cpu: "many" } }, "quota.cpu: must be a quantity of Kubernetes"],
    ["a TTL beyond a week", { ttl_default_hours: 169 }, "ttl_default_hours: must be <= 168"],
    ["groups that are no list", { access: { groups: "shop" } }, "access.groups: must be an array"],
  ])("is refused with %s, and says where", async (_what, body, words) => {
    const reply = await call("post", PATH, { name: "web", ...body });
    expectProblem(reply, 400, new RegExp(RegExp.escape(words)), "ENV_CONFIG_INVALID");
    expect(service.configSets.find("web")).toBeUndefined();
  });

  test("is refused with everything that is wrong at once", async () => {
    const body = { name: "x", env: [{ name: "1", value: "" }], quota: { pods: -1 }, stray: 1 };
    const reply = await call("post", PATH, body);
    for (const field of ["name: ", "env.0.name: ", "quota.pods: ", "stray: "]) {
      expect(reply.body.detail).toContain(field);
    }
  });

  test("is refused where the API server refuses it, with the request's own field", async () => {
    const field = "spec.helmValues.backend.env[0].secretRef";
    service.configSets.failNext(new ConfigInvalid([{ field, message: "is not so" }]));
    const reply = await call("post", PATH, { name: "web" });
    expectProblem(reply, 400, "helm_values.backend.env.0.secret_ref: is not so", "ENV_CONFIG_INVALID");
  });

  // Abuse case 38, for what every environment of the set would read.
  test.each([
    ["env", { env: [{ name: "A", secret_ref: { name: "platform-webhook", key: "latest" } }] }, "env.0.secret_ref.name"],
    ["env", { env: [{ name: "A", secret_ref: { name: "billing-key", key: "latest" } }] }, "env.0.secret_ref.name"],
    [
      "shared_api_keys",
      { shared_api_keys: [{ name: "A", secret_ref: { name: "mail-x", key: "1" } }] },
      "shared_api_keys.0.secret_ref.name",
    ],
    [
      "helm_values",
      { helm_values: { frontend: { env: { A: { secretKeyRef: { name: "other", key: "1" } } } } } },
      "helm_values.frontend.env.A.secretKeyRef.name",
    ],
  ])(
    "is refused with a reference in %s to what the settings don't share with the writer",
    async (_where, body, field) => {
      const reply = await call("post", PATH, { name: "web", ...body });
      expectProblem(
        reply,
        400,
        `${field}: names no secret that the settings share with a group of yours`,
        "ENV_CONFIG_INVALID",
      );
      expect(service.log).toContainEqual(expect.objectContaining({ message: "a reference to a secret was refused" }));
    },
  );

  test.each([
    ["env", { env: [{ name: "SECRET_KEY", value: "hunter2" }] }, "env.0"],
    [
      "helm_values",
      { helm_values: { backend: { env: { API_TOKEN: "hunter2" } } } },
      "helm_values.backend.env.API_TOKEN",
    ],
  ])("is refused with the text of a secret in %s", async (_where, body, field) => {
    const reply = await call("post", PATH, { name: "web", ...body });
    expectProblem(reply, 400, new RegExp(`^${field}: .* is a secret`), "ENV_CONFIG_INVALID");
    expect(JSON.stringify([reply.body, service.log])).not.toContain("hunter2");
  });

  test.each(["12345678901234567890", "1e400"])(
    "is refused with a number that would become another: %s",
    async (number) => {
      const authorization = await service.bearer("maintainer");
      const headers = { authorization, "content-type": "application/json" };
      const body = `{"name":"web","helm_values":{"backend":{"cache":[{"size":${number}}]}}}`;
      const detail = "helm_values.backend.cache.0.size: must be a number that keeps all its digits";
      expectProblem(await service.http.post(PATH).set(headers).send(body), 400, detail, "ENV_CONFIG_INVALID");
    },
  );

  // Abuse case 45.
  test.each([
    ["__proto__", '{"name":"web","helm_values":{"backend":{"__proto__":{"polluted":1}}}}'],
    ["constructor.prototype", '{"name":"web","helm_values":{"backend":{"constructor":{"prototype":{"polluted":1}}}}}'],
  ])("is refused with values that reach a prototype: %s", async (_what, body) => {
    const authorization = await service.bearer("maintainer");
    const headers = { authorization, "content-type": "application/json" };
    expectProblem(await service.http.post(PATH).set(headers).send(body), 400);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(service.configSets.find("web")).toBeUndefined();
  });
});

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
    expect(service.configSets.find("billing-set")?.spec.env).toMatchObject([{ secretRef: { key: "1" } }]);
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
    await service.environments.create("one", { backend, configSet: { name: "open" } });
    await service.environments.create("two", { backend, configSet: { name: "open" } });
    const reply = await call("delete", `${PATH}/open`);
    expectProblem(reply, 409, "The config set is in use: 2 environments have it");
    expect((await call("get", `${PATH}/open`)).body.data).toMatchObject({ used_by: 2 });
    for (const name of ["one", "two"]) service.environments.finishRemoval(name);
    expect((await call("delete", `${PATH}/open`)).status).toBe(200);
  });
});

describe("no config set is deleted", () => {
  test("that an environment has of which this replica has not heard", async () => {
    const backend = { repository: "open-api", branch: "main" };
    await service.environments.create("one", { backend, configSet: { name: "open" } });
    service.environments.list = () => [];
    expectProblem(await call("delete", `${PATH}/open`), 409, /^The config set is in use: 1 /);
    expect(service.configSets.find("open")).toBeDefined();
  });

  test("while the API server can't be asked for its uses", async () => {
    service.environments.setReachable(false);
    expectProblem(await call("delete", `${PATH}/open`), 503);
    expect(service.configSets.find("open")).toBeDefined();
  });

  test("that environments get by default", async () => {
    expectProblem(await call("delete", `${PATH}/shop-set`), 409, "The config set is the default one");
    expect(service.configSets.find("shop-set")).toBeDefined();
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
    const authorization = await service.bearer("maintainer");
    expectProblem(await service.http.get(`${PATH}?limit=101`).set({ authorization }), 400);
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
    service.configSets.put(configSetFixture("careless", { env, helmValues: { backend: { env } } }));
    const { body } = await call("get", `${PATH}/careless`);
    expect(body.data).toMatchObject({
      env: [{ name: "SECRET_KEY", value: "***" }],
      helm_values: { backend: { env: { SECRET_KEY: "***" } } },
    });
    expect(JSON.stringify((await call("get", PATH)).body)).not.toContain("hunter2");
  });
});

// Abuse case 23.
test.each<Person>(["nobody", "viewer", "developer"])("%s may change no config set", async (person) => {
  expectProblem(await call("post", PATH, { name: "web" }, person), 403);
  for (const id of ["open", "absent"]) {
    expectProblem(await call("put", `${PATH}/${id}`, {}, person), 403);
    expectProblem(await call("delete", `${PATH}/${id}`, undefined, person), 403);
  }
  expect(service.configSets.list()).toHaveLength(3);
});

test("a creation with other people's config set is refused as with none", async () => {
  const authorization = await service.bearer("developer");
  const body = { environment_name: "x-y-z", backend_repo: "open-api", backend_branch: "main" };
  const details = [];
  for (const config_set of ["billing-set", "billing-sex"]) {
    const reply = await service.http
      .post("/api/environments")
      .set({ authorization })
      .send({ ...body, config_set });
    details.push(reply.body.detail.replace(config_set, "…"));
  }
  expect(details[0]).toBe(details[1]);
});
