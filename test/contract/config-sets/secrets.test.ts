import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { configSetFixture } from "../../support/fixtures/environment-fixture.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
let authorization: string;
beforeEach(async () => {
  service = await startApiService({
    repositories: [
      aRepository("shop-api", {
        access: { groups: ["shop"] },
        secrets: [{ name: "SECRET_KEY" }, { name: "STRIPE_KEY" }],
        overridable: ["backend.cache.size", "backend.cache.on"],
      }),
      aRepository("shop-web", { type: "frontend", secrets: [{ name: "WEB_TOKEN" }], overridable: ["frontend.theme"] }),
      aRepository("open-api", { secrets: [] }),
    ],
    configSets: [
      configSetFixture("plain", {}),
      configSetFixture("keys", { sharedApiKeys: [{ name: "MAIL", secretRef: { name: "shared-mail", key: "2" } }] }),
      configSetFixture("foreign-keys", {
        sharedApiKeys: [{ name: "PAY", secretRef: { name: "billing-key", key: "1" } }],
      }),
      configSetFixture("all", {
        env: [{ name: "SECRET_KEY", secretRef: { name: "shared-mail", key: "1" } }],
        sharedApiKeys: [{ name: "STRIPE_KEY", secretRef: { name: "labelled", key: "latest" } }],
      }),
    ],
    settings: {
      secrets: {
        shared: [
          { ids: ["shared-stripe", "shared-mail"], groups: ["shop", "mail"] },
          { labels: { share: "shop" }, groups: ["shop"] },
          { ids: ["billing-key"], groups: ["billing"] },
        ],
      },
    },
  });
  service.secretManager.share({ id: "labelled", labels: { share: "shop" }, values: ["x"] });
  service.secretManager.share({ id: "unlabelled", labels: { share: "billing" }, values: ["x"] });
  authorization = await service.bearer("developer");
});
afterEach(() => service.stop());

const both = {
  environment_name: "given",
  ...{ backend_repo: "shop-api", backend_branch: "main", frontend_repo: "shop-web" },
};
const { frontend_repo: _, ...backend } = both;
const post = (body: object) => service.http.post("/api/environments").set({ authorization }).send(body);
const overriding = (helm_values: object, base: object = both) => ({ ...base, config_overrides: { helm_values } });
const env = (variables: object, component = "backend") => overriding({ [component]: { env: variables } });
const ref = (name: unknown, key: unknown = "latest") => ({ secretKeyRef: { name, key } });
const made = () => service.environments.find("given");

/** The one violation of each field, by field, as the detail lists them. */
async function violations(body: object): Promise<Record<string, string>> {
  const reply = await post(body);
  expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
  expectPromised(reply, "post", "/api/environments");
  expect(service.environments.list()).toEqual([]);
  const named = String(reply.body.detail).split("; ");
  return Object.fromEntries(named.map((violation) => violation.split(/: (.*)/s).slice(0, 2) as [string, string]));
}

async function kept(...variables: string[]): Promise<Record<string, string>> {
  const owner = (await made())?.metadata ?? { name: "", uid: "" };
  const stored = await service.secretManager.ensure(
    owner,
    variables.map((name) => ({ name, version: 1 })),
  );
  return Object.fromEntries([...stored].map(([name, { value }]) => [name, value.reveal()]));
}

describe("overrides of a creation", () => {
  test("stand in the resource as the chart's, and secrets in the secret manager alone", async () => {
    const secret = "sk_live_5up3r$ecret";
    const odd = "x\nsecurityContext: {privileged: true} {{ .Values }} $ARGOCD_APP_NAME";
    const reply = await post(
      overriding({
        backend: {
          env: { LOG_LEVEL: "debug", ODD: odd, STRIPE_KEY: secret, MAIL_KEY: ref("shared-mail", "3") },
          replicas: 2,
          resources: { requests: { cpu: "100m" }, limits: { memory: "256Mi" } },
          cache: { size: 5, on: false },
        },
        frontend: { env: { THEME: "dark" }, theme: "dark" },
      }),
    );
    expectPromised(reply, "post", "/api/environments");
    expect(reply.status).toBe(200);
    const environment = await made();
    expect(environment?.spec).toMatchObject({
      secrets: { provided: ["STRIPE_KEY"] },
      overrides: {
        backend: {
          env: [
            { name: "LOG_LEVEL", value: "debug" },
            { name: "ODD", value: odd },
            { name: "MAIL_KEY", secretRef: { name: "shared-mail", key: "3" } },
          ],
          replicas: 2,
          resources: { requests: { cpu: "100m" }, limits: { memory: "256Mi" } },
        },
        frontend: { env: [{ name: "THEME", value: "dark" }] },
        values: [
          { path: "backend.cache.size", value: "5" },
          { path: "backend.cache.on", value: "false" },
          { path: "frontend.theme", value: '"dark"' },
        ],
      },
    });
    expect(await kept("STRIPE_KEY", "SECRET_KEY")).toEqual({ STRIPE_KEY: secret });
    expect(JSON.stringify([environment, reply.body, service.log])).not.toContain(secret);
  });

  test("may name a version by its number", async () => {
    const shared = { name: "mail-set", env: [{ name: "A", secret_ref: { name: "shared-mail", key: 2 } }] };
    const maintainer = await service.bearer("maintainer", { groups: ["maintainers", "mail"] });
    const set = await service.http.post("/api/config-sets").set({ authorization: maintainer }).send(shared);
    expect(set.body.data.env).toEqual([{ name: "A", secret_ref: { name: "shared-mail", key: "2" } }]);
    expect((await post(env({ MAIL_KEY: ref("shared-mail", 3) }))).status).toBe(200);
    const variable = { name: "MAIL_KEY", secretRef: { name: "shared-mail", key: "3" } };
    expect((await made())?.spec.overrides?.backend?.env).toEqual([variable]);
  });

  test("come in a form as JSON text", async () => {
    const { config_overrides, ...fields } = env({ LOG_LEVEL: "debug", SECRET_KEY: "form-secret" });
    const form = { ...fields, config_overrides: JSON.stringify(config_overrides) };
    const reply = await service.http.post("/api/environments").set({ authorization }).type("form").send(form);
    expect(reply.status).toBe(200);
    expect((await made())?.spec.overrides).toEqual({ backend: { env: [{ name: "LOG_LEVEL", value: "debug" }] } });
    expect(await kept("SECRET_KEY")).toEqual({ SECRET_KEY: "form-secret" });
  });

  test.each([{}, { helm_values: {} }, { helm_values: { backend: {} } }, { helm_values: { backend: { env: {} } } }])(
    "leave nothing behind when they say nothing: %j",
    async (config_overrides) => {
      expect((await post({ ...both, config_overrides })).status).toBe(200);
      expect((await made())?.spec).not.toHaveProperty("overrides");
      expect((await made())?.spec).not.toHaveProperty("secrets");
    },
  );

  test("take one secret value that both components are given alike", async () => {
    const same = { env: { SECRET_KEY: "same" } };
    expect((await post(overriding({ backend: same, frontend: same }))).status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ provided: ["SECRET_KEY"] });
  });
});

const at = (path: string) => `config_overrides.helm_values.${path}`;

describe("overrides are refused, each with its path, when", () => {
  test.each([
    {
      name: "a name holds '='",
      given: env({ "A=B": "x" }),
      field: "backend.env.A=B",
      message: /must be the name of a variable/,
    },
    {
      name: "a name is empty",
      given: env({ "": "x" }),
      field: "backend.env.",
      message: /must be the name of a variable/,
    },
    {
      name: "a name holds NUL",
      given: env({ "A\0": "x" }),
      field: "backend.env.A\0",
      message: /must be the name of a variable/,
    },
    {
      name: "a name holds a newline",
      given: env({ "A\n": "x" }),
      field: "backend.env.A\n",
      message: /must be the name of a variable/,
    },
    {
      name: "a name begins with a digit",
      given: env({ "1A": "x" }),
      field: "backend.env.1A",
      message: /must be the name of a variable/,
    },
    {
      name: "a value is a number",
      given: env({ A: 5 }),
      field: "backend.env.A",
      message: /^must be a string or an object$/,
    },
    { name: "a value is true", given: env({ A: true }), field: "backend.env.A", message: /^must be a string/ },
    { name: "a value is null", given: env({ A: null }), field: "backend.env.A", message: /^must be a string/ },
    { name: "a value is a list", given: env({ A: ["x"] }), field: "backend.env.A", message: /^must be a string/ },
    { name: "a value holds NUL", given: env({ A: "a\0b" }), field: "backend.env.A", message: /NUL/ },
    { name: "a value is too long", given: env({ A: "x".repeat(4097) }), field: "backend.env.A", message: /4096/ },
    {
      name: "an object is no reference",
      given: env({ A: {} }),
      field: "backend.env.A.secretKeyRef",
      message: /required/,
    },
    {
      name: "a reference carries more",
      given: env({ A: { ...ref("shared-mail"), value: "x" } }),
      field: "backend.env.A.value",
      message: /not a known field/,
    },
    {
      name: "a reference names no version",
      given: env({ A: { secretKeyRef: { name: "shared-mail" } } }),
      field: "backend.env.A.secretKeyRef.key",
      message: /required/,
    },
    ...["../1", "", "0", "01", "-1", "LATEST", "1.0", 0, -1, 1.5, 1e21, true, {}].map((key) => ({
      name: `a version is ${JSON.stringify(key)}`,
      given: env({ A: ref("shared-mail", key) }),
      field: "backend.env.A.secretKeyRef.key",
      message: ["string", "number"].includes(typeof key) ? /latest|must be a string/ : /must be a string/,
    })),
    ...["projects/p/secrets/shared-mail", "../shared-mail", "shared mail", "", "shared-mail\n"].map((id) => ({
      name: `a secret is called ${JSON.stringify(id)}`,
      given: env({ A: ref(id) }),
      field: "backend.env.A.secretKeyRef.name",
      message: /must be the id of a secret/,
    })),
    {
      name: "a path is not overridable",
      given: overriding({ backend: { image: "evil" } }),
      field: "backend.image",
      message: /not overridable/,
    },
    {
      name: "a path lies deeper",
      given: overriding({ backend: { cache: { size: { of: 1 } } } }),
      field: "backend.cache.size.of",
      message: /not overridable/,
    },
    {
      name: "a path is a pod's own",
      given: overriding({ backend: { serviceAccountName: "admin" } }),
      field: "backend.serviceAccountName",
      message: /not overridable/,
    },
    {
      name: "a path is of nobody",
      given: overriding({ database: {} }),
      field: "database",
      message: /not a known field/,
    },
    {
      name: "a path that is not overridable holds nothing",
      given: overriding({ backend: { image: {} } }),
      field: "backend.image",
      message: /not overridable/,
    },
    {
      name: "a value of the chart is nothing at all",
      given: overriding({ backend: { cache: { size: {} } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "a value of the chart is a number that would lose digits",
      given: overriding({ backend: { cache: { size: 1e21 } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "one value of the chart is given twice",
      given: overriding({ backend: { "cache.size": 1, cache: { size: 2 } } }),
      field: "backend.cache.size",
      message: /given twice/,
    },
    {
      name: "a value of the chart is a list",
      given: overriding({ backend: { cache: { size: [1] } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "a value of the chart is null",
      given: overriding({ backend: { cache: { size: null } } }),
      field: "backend.cache.size",
      message: /must be a text, a number/,
    },
    {
      name: "replicas are too many",
      given: overriding({ backend: { replicas: 21 } }),
      field: "backend.replicas",
      message: /<= 20/,
    },
    {
      name: "an amount is none",
      given: overriding({ backend: { resources: { limits: { memory: "lots" } } } }),
      field: "backend.resources.limits.memory",
      message: /must be a quantity/,
    },
    {
      name: "a resource is another one",
      given: overriding({ backend: { resources: { limits: { "nvidia.com/gpu": "1" } } } }),
      field: "backend.resources.limits.nvidia.com/gpu",
      message: /not a known field/,
    },
    {
      name: "there is no frontend",
      given: overriding({ frontend: { replicas: 1 } }, backend),
      field: "frontend",
      message: /needs frontend_repo/,
    },
    {
      name: "a secret is empty",
      given: env({ SECRET_KEY: "" }),
      field: "backend.env.SECRET_KEY",
      message: /must not be empty/,
    },
    {
      name: "components are given different values of a secret",
      given: overriding({ backend: { env: { SECRET_KEY: "a" } }, frontend: { env: { SECRET_KEY: "b" } } }),
      field: "frontend.env.SECRET_KEY",
      message: /one value for all components/,
    },
    {
      name: "components refer to different secrets",
      given: overriding({
        backend: { env: { KEY: ref("shared-mail") } },
        frontend: { env: { KEY: ref("shared-stripe") } },
      }),
      field: "frontend.env.KEY",
      message: /one value for all components/,
    },
    {
      name: "one refers to a secret that the other gives",
      given: overriding({
        backend: { env: { SECRET_KEY: ref("shared-mail") } },
        frontend: { env: { SECRET_KEY: "b" } },
      }),
      field: "frontend.env.SECRET_KEY",
      message: /one value for all components/,
    },
  ])("$name", async ({ given, field, message }) => {
    expect(await violations(given)).toEqual({ [at(field)]: expect.stringMatching(message) });
  });

  test("several are wrong: all are named together", async () => {
    const given = overriding({
      backend: { image: "x", env: { SECRET_KEY: "", OTHER: ref("billing-key") }, cache: { size: [] } },
    });
    expect(Object.keys(await violations(given)).sort()).toEqual(
      ["backend.cache.size", "backend.env.OTHER.secretKeyRef.name", "backend.env.SECRET_KEY", "backend.image"].map(at),
    );
  });

  test("very many are wrong: a hundred are named", async () => {
    const names = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => [`${prefix}${i}`, "x"]);
    const unlisted = overriding({ backend: { deep: Object.fromEntries(names("v", 5_000)) } });
    const misnamed = env(Object.fromEntries(names("1", 5_000)));
    for (const given of [unlisted, misnamed]) expect(Object.keys(await violations(given))).toHaveLength(100);
  });

  test("config_overrides carries anything else", async () => {
    expect(await violations({ ...both, config_overrides: { values: {} } })).toEqual({
      "config_overrides.values": "is not a known field",
    });
  });
});

describe("without generated secrets", () => {
  const ungenerated = (variables: object) => ({ ...env(variables), auto_generate_secrets: false });

  test("every one must be given: those that are missing are named", async () => {
    expect(await violations(ungenerated({ STRIPE_KEY: "x" }))).toEqual({
      auto_generate_secrets: "nothing is generated, so config_overrides must give SECRET_KEY, WEB_TOKEN",
    });
  });

  test("a database's password must be given too, and is as secret as those that the Repository lists", async () => {
    const bare = { ...backend, backend_repo: "open-api", auto_generate_secrets: false, provision_database: true };
    expect(await violations(bare)).toEqual({
      auto_generate_secrets: "nothing is generated, so config_overrides must give DATABASE_PASSWORD",
    });
    const given = overriding({ backend: { env: { DATABASE_PASSWORD: "given" } } }, bare);
    expect((await post(given)).status).toBe(200);
    const spec = (await made())?.spec;
    expect(spec?.secrets?.provided).toEqual(["DATABASE_PASSWORD"]);
    expect(JSON.stringify(spec)).not.toContain("given");
  });

  test("text and references will do", async () => {
    const given = ungenerated({ SECRET_KEY: "a", STRIPE_KEY: ref("shared-stripe"), WEB_TOKEN: "b" });
    expect((await post(given)).status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ autoGenerate: false, provided: ["SECRET_KEY", "WEB_TOKEN"] });
  });

  test("nothing is missing where the Repository lists none", async () => {
    const reply = await post({ ...backend, backend_repo: "open-api", auto_generate_secrets: false });
    expect(reply.status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ autoGenerate: false });
  });
});

describe("shared API keys", () => {
  const keyed = (config_set: string, more: object = {}) => ({
    ...backend,
    use_shared_api_keys: true,
    config_set,
    ...more,
  });

  test("come with a config set whose keys are shared with the environment", async () => {
    expect((await post(keyed("keys"))).status).toBe(200);
    expect((await made())?.spec.secrets).toEqual({ useSharedApiKeys: true });
  });

  test.each(["", "plain"])("are refused with the config set '%s', which has none", async (config_set) => {
    expect(await violations(keyed(config_set))).toEqual({
      use_shared_api_keys: "needs a config set that has shared API keys",
    });
  });

  test.each([
    { name: "the keys are others'", body: keyed("foreign-keys"), secret: "billing-key" },
    { name: "the environment has no group", body: keyed("keys", { backend_repo: "open-api" }), secret: "shared-mail" },
  ])("are forbidden where $name: 403, and logged", async ({ body, secret }) => {
    const reply = await post(body);
    expectProblem(reply, 403, /no group in common/);
    expectPromised(reply, "post", "/api/environments");
    expect(service.environments.list()).toEqual([]);
    expect(service.log).toContainEqual(
      expect.objectContaining({
        message: "a reference to a secret was refused",
        facts: expect.objectContaining({ secret, environment: "given" }),
      }),
    );
  });

  test("and the config set's own references count where nothing is generated", async () => {
    const given = { ...keyed("all"), auto_generate_secrets: false };
    expect((await post(given)).status).toBe(200);
  });

  test("don't count for environments that don't ask for them", async () => {
    const given = { ...keyed("all"), use_shared_api_keys: false, auto_generate_secrets: false };
    expect(await violations(given)).toEqual({
      auto_generate_secrets: "nothing is generated, so config_overrides must give STRIPE_KEY",
    });
  });
});

describe("a reference to a secret", () => {
  test.each(["shared-mail", "labelled"])("is taken for %s, which is shared with the environment", async (id) => {
    expect((await post(env({ KEY: ref(id) }))).status).toBe(200);
    expect(service.secretManager.looks.filter((look) => look.startsWith("read"))).toEqual([]);
  });

  test.each([
    { name: "another team's", id: "billing-key" },
    { name: "one that other labels carry", id: "unlabelled" },
    { name: "one that is absent", id: "absent" },
    { name: "an id that only begins like a shared one", id: "shared-mail-2" },
    { name: "the platform's own", id: "webhook-secret" },
    { name: "an environment's", id: "other-0a1b2c3d-SECRET_KEY" },
  ])("is refused for $name ($id), alike, and logged, without a value being read", async ({ id }) => {
    expect(await violations(env({ KEY: ref(id) }))).toEqual({
      [at("backend.env.KEY.secretKeyRef.name")]:
        "names no secret that is shared with a group that this environment and you have in common",
    });
    expect(service.secretManager.looks.filter((look) => look.startsWith("read"))).toEqual([]);
    expect(service.log.filter(({ message }) => message === "a reference to a secret was refused")).toMatchObject([
      { facts: { subject: `${service.issuer.issuer}#dev`, environment: "given", variable: "KEY", secret: id } },
    ]);
  });

  test("is refused where the environment has no group, without any look at the secret", async () => {
    const given = overriding({ backend: { env: { KEY: ref("labelled") } } }, { ...backend, backend_repo: "open-api" });
    expect(Object.keys(await violations(given))).toEqual([at("backend.env.KEY.secretKeyRef.name")]);
    expect(service.secretManager.looks).toEqual([]);
  });

  test("can't be judged by labels while the secret manager is away: 503, and nothing is made", async () => {
    service.secretManager.setReachable(false);
    const reply = await post(env({ KEY: ref("labelled") }));
    expectProblem(reply, 503, /secret manager/, "ENV_CREATION_FAILED");
    expectPromised(reply, "post", "/api/environments");
    expect(service.environments.list()).toEqual([]);
  });
});

describe("when a given secret can't be written", () => {
  test("the environment goes again, and the answer is 503 with when to try again", async () => {
    service.secretManager.setReachable(false);
    const reply = await post(env({ SECRET_KEY: "s3cr3t-value" }));
    expectProblem(reply, 503, /secret manager can't be used/, "ENV_CREATION_FAILED");
    expectPromised(reply, "post", "/api/environments");
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
    expect((await made())?.metadata.deletionTimestamp).toBeDefined();
    expect(JSON.stringify([reply.body, service.log])).not.toContain("s3cr3t-value");
  });
});
