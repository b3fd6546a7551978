import { afterEach, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { parse } from "yaml";
import { helmProgram } from "../../deploy/local/kubernetes/helm.ts";
import { aRepository } from "../support/doubles/memory/repositories.ts";
import { configSetFixture } from "../support/fixtures/environment/environment-fixture.ts";
import { renderEnvironment } from "../support/fixtures/environment/environment-values.ts";
import { expectProblem, expectPromised } from "../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../support/http/api-service.ts";

const PATH = "/api/helm/config-template";

interface Deployment {
  readonly template: { readonly spec: { readonly containers: readonly [{ readonly env: readonly object[] }] } };
}

/** Text that some version of YAML misreads. */
const SPELLINGS = ["on", "N", "1_000", "1:30", "0o7", "010", "0x1f", "0b1", ".5", "1e3", "2026-01-01", "~", "=", "<<"];
const leaving = aRepository("leaving-api");

const place = { repoUrl: "https://git.example.test/podinfo.git", path: "charts/podinfo", revision: "main" };
const MAPPING = "# As podinfo has them.\nimage: {tag: '${backend.image.tag}'}\nenv: ${backend.env}\ndebug: false\n";

let service: ApiService;
beforeAll(() => helmProgram(), 30 * 60_000);
beforeEach(async () => {
  service = await startApiService({
    repositories: [
      aRepository("shop-api", {
        chart: { repoUrl: "https://x:hunter2@git.example.test/shop.git", path: "chart", revision: "v2" },
        image: { repository: "registry.example.test/shop", tagTemplate: "{branch}-{short}" },
        port: 3e3,
        healthPath: "/healthz",
        secrets: [{ name: "SECRET_KEY", kind: "key", length: 40 }],
      }),
      aRepository("shop-web", { type: "frontend" }),
      aRepository("plain-api", { secrets: [] }),
      aRepository("private-api", { imagePullSecretRef: { name: "shop-registry", key: "latest" } }),
      { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
      aRepository("mapped-api", { chart: { ...place, values: MAPPING } }),
      aRepository("unreadable-api", { chart: { ...place, values: "a:\n  b: 1\n  b: 2" } }),
      aRepository("billing-api", { access: { groups: ["billing"] } }),
    ],
    configSets: [
      configSetFixture("web", {
        helmValues: { backend: { replicas: 2, cache: { size: 1 }, env: [{ name: "TRACE", value: "1" }] } },
        env: [
          { name: "LOG_LEVEL", value: "info" },
          { name: "MAIL_KEY", secretRef: { name: "mail", key: "latest" } },
          { name: "SECRET_KEY", value: "hunter3" },
        ],
        sharedApiKeys: [{ name: "PAYMENT_KEY", secretRef: { name: "payment", key: "1" } }],
        database: { enabled: true },
      }),
      configSetFixture("keyed", { helmValues: { backend: { cache: { N: 1, on: 2, "1_000": 3 } } } }),
      configSetFixture("spelled", {
        env: SPELLINGS.map((value, index) => ({ name: `V${index}`, value })),
      }),
      configSetFixture("mapping", { values: "debug: true\nname: ${environment.name}\n" }),
      configSetFixture("billing-set", { access: { groups: ["billing"] } }),
      configSetFixture("live", { production: true }),
    ],
  });
});
afterEach(() => service.stop());

async function ask(query = "", as: Person = "developer") {
  const reply = await service.http.get(`${PATH}${query}`).set({ authorization: await service.bearer(as) });
  expectPromised(reply, "get", PATH);
  return reply;
}

describe("the template of a repository and a config set", () => {
  test("has the values that its environments are rendered with", async () => {
    const { body, text } = await ask("?repo=shop-api&config_set=web");
    expect(body.data.chart).toEqual({ repo_url: "https://git.example.test/shop.git", path: "chart", revision: "v2" });
    expect(body.data.values).toEqual({
      environment: { name: "my-environment", uid: expect.any(String) },
      backend: {
        image: "registry.example.test/shop:{branch}-{short}",
        commit: "{commit}",
        pullPolicy: "IfNotPresent",
        port: 3e3,
        healthPath: "/healthz",
        replicas: 2,
        cache: { size: 1 },
        env: [
          { name: "LOG_LEVEL", value: "info" },
          { name: "TRACE", value: "1" },
          { name: "PUBLIC_URL", value: "https://my-environment--api.env.example.test:18443" },
        ],
        host: "my-environment--api.env.example.test",
        url: "https://my-environment--api.env.example.test:18443",
      },
      database: expect.objectContaining({ user: "app" }),
      secret: { name: expect.stringMatching(/^environment-secrets-/) },
    });
    expect(parse(body.data.values_yaml)).toEqual(body.data.values);
    expect(text).not.toContain("hunter");
  });

  test("names the pull secret as its environments do, and no credential", async () => {
    const { body, text } = await ask("?repo=private-api");
    expect(body.data.values).toMatchObject({ imagePullSecrets: [{ name: "image-pull" }] });
    expect(text).not.toContain("shop-registry");
  });

  test("hides the values of variables that are secrets of another repository", async () => {
    const { body, text } = await ask("?repo=plain-api&config_set=web");
    expect(body.data.values.backend.env).toContainEqual({ name: "SECRET_KEY", value: "***" });
    expect(body.data.variables).toContainEqual(expect.objectContaining({ name: "SECRET_KEY", default: "***" }));
    expect(text).not.toContain("hunter");
  });

  test("means the same to helm as YAML, for every text of values", async () => {
    const { body } = await ask("?repo=plain-api&config_set=spelled");
    const objects = await renderEnvironment("my-environment", body.data.values_yaml);
    expect(objects).toEqual(await renderEnvironment("my-environment", body.data.values));
    const given = SPELLINGS.map((value) => expect.objectContaining({ value }));
    const env = objects.flatMap(({ spec }) => (spec as Partial<Deployment>).template?.spec.containers[0].env ?? []);
    expect(env).toEqual(expect.arrayContaining(given));
  });

  test("keeps keys that YAML 1.1 has for no text", async () => {
    const { body } = await ask("?repo=plain-api&config_set=keyed");
    const { backend } = parse(body.data.values_yaml, { version: "1.1" });
    expect(backend.cache).toEqual({ N: 1, on: 2, "1_000": 3 });
  });

  test("says of every variable where it comes from", async () => {
    const { body } = await ask("?repo=shop-api&config_set=web");
    const plain = { component: "backend", required: false, secret: false, source: "config_set" };
    const secret = { component: "backend", secret: true, default: null };
    expect(body.data.variables).toEqual([
      { name: "LOG_LEVEL", ...plain, default: "info" },
      { name: "TRACE", ...plain, default: "1" },
      { name: "DATABASE_PASSWORD", ...secret, required: true, source: "auto" },
      { name: "DATABASE_URL", ...secret, required: false, source: "auto" },
      { name: "MAIL_KEY", ...secret, required: false, source: "config_set" },
      { name: "PAYMENT_KEY", ...secret, required: false, source: "shared" },
      { name: "SECRET_KEY", ...secret, required: true, source: "auto" },
    ]);
  });

  test("says which secrets have to be given where none is generated", async () => {
    const { body } = await ask("?repo=shop-api&auto_generate_secrets=false");
    expect(body.data.variables).toMatchObject([{ name: "SECRET_KEY", required: true, source: "override" }]);
  });

  test("is the values alone for callers who ask for YAML", async () => {
    const authorization = await service.bearer("developer");
    for (const path of [PATH, PATH.replace("/api", "/api/v2")]) {
      const reply = await service.http.get(`${path}?repo=shop-web`).set({ authorization, accept: "application/yaml" });
      expect(reply.status).toBe(200);
      expect(reply.headers["content-type"]).toBe("application/yaml; charset=utf-8");
      const yaml = reply.text ?? String(reply.body);
      expect(parse(yaml)).toMatchObject({ frontend: { port: 8080 }, environment: { name: "my-environment" } });
    }
  });

  test.each(["*/*", "text/html", "application/json, application/yaml;q=0.5"])("is JSON for %s", async (accept) => {
    const authorization = await service.bearer("developer");
    const reply = await service.http.get(PATH).set({ authorization, accept });
    expect(reply.body).toMatchObject({ status: "success", data: { values: {} } });
  });

  test("is the default chart's without a repository, with both components", async () => {
    const { body } = await ask();
    expect(body.data.chart).toEqual({
      repo_url: "https://git.example.test/charts.git",
      path: "environment",
      revision: "main",
    });
    expect(Object.keys(body.data.values)).toEqual(["environment", "backend", "frontend", "secret"]);
  });

  test("is an error as JSON for callers who ask for YAML", async () => {
    const authorization = await service.bearer("developer");
    const reply = await service.http.get(`${PATH}?repo=absent`).set({ authorization, accept: "application/yaml" });
    expectProblem(reply, 400, "repo: no repository 'absent' is registered", "ENV_REPO_NOT_FOUND");
  });

  // Abuse case 26.
  test.each([
    ["repo=billing-api", "repo: no repository 'billing-api' is registered", "ENV_REPO_NOT_FOUND"],
    ["repo=leaving-api", "repo: no repository 'leaving-api' is registered", "ENV_REPO_NOT_FOUND"],
    ["repo=https://evil.test", "repo: no repository 'https://evil.test' is registered", "ENV_REPO_NOT_FOUND"],
    ["config_set=billing-set", "config_set: no config set 'billing-set' is registered", "ENV_CONFIG_INVALID"],
    ["config_set=live", "config_set: no config set 'live' is registered", "ENV_CONFIG_INVALID"],
    ["config_set=absent", "config_set: no config set 'absent' is registered", "ENV_CONFIG_INVALID"],
  ])("is refused as if there were none: %s", async (query, detail, code) => {
    expectProblem(await ask(`?${query}`), 400, detail, code);
  });
});

describe("the template of a chart with values of its own", () => {
  const env = [{ name: "PUBLIC_URL", value: "https://my-environment--api.env.example.test:18443" }];
  const filled = { image: { tag: "{commit}" }, env, debug: false };

  async function version2(query: string) {
    const reply = await service.http
      .get(`${PATH.replace("/api", "/api/v2")}${query}`)
      .set({ authorization: await service.bearer("developer") });
    expectPromised(reply, "get", PATH.replace("/api", "/api/v2"));
    return reply;
  }

  test("has the values that they become", async () => {
    const { body } = await ask("?repo=mapped-api");
    expect(body.data.values).toEqual(filled);
    expect(parse(body.data.values_yaml)).toEqual(filled);
    expect(Object.keys(body.data)).toEqual(["chart", "values", "values_yaml", "variables"]);
    expect(body.data.chart).toEqual({ repo_url: place.repoUrl, path: place.path, revision: "main" });
  });

  test("in version 2 also has the text with its references", async () => {
    const { body } = await version2("?repo=mapped-api");
    expect(body.data).toMatchObject({ values: filled, mapping: { chart: MAPPING, config_set: null } });
  });

  test("in version 2 also has the text of the config set", async () => {
    const { body } = await version2("?repo=mapped-api&config_set=mapping");
    expect(body.data).toMatchObject({
      values: { ...filled, debug: true, name: "my-environment" },
      mapping: { chart: MAPPING, config_set: "debug: true\nname: ${environment.name}\n" },
    });
  });

  test("in version 2 says of the platform's layout that nothing is mapped", async () => {
    const { body } = await version2("?repo=plain-api");
    expect(body.data.mapping).toEqual({ chart: null, config_set: null });
  });

  test("is refused where they can't be read", async () => {
    const detail = "repo: spec.chart.values of the backend's Repository: line 3, column 3: the same key twice";
    expectProblem(await ask("?repo=unreadable-api"), 400, detail, "ENV_CONFIG_INVALID");
  });
});
