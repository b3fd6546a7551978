import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aRepository } from "../../support/doubles/memory/repositories.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };

async function call(method: "get" | "post" | "put" | "delete", path: string, as: Person, body?: object) {
  const request = service.http[method](path).set("authorization", await service.bearer(as));
  return body === undefined ? request : request.send(body);
}
const create = (as: Person = "developer", body: object = minimal) => call("post", "/api/environments", as, body);

describe("creating an environment", () => {
  test("answers at once with the fields of the contract, and the resource has the same", async () => {
    const reply = await create("developer", {
      ...minimal,
      backend_commit: "9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344",
      frontend_repo: "shop-web",
      frontend_branch: "feature/x",
      ttl: 48,
      provision_database: false,
      auto_generate_secrets: true,
      use_shared_api_keys: false,
      config_set: "",
      config_overrides: {},
    });
    expectPromised(reply, "post", "/api/environments");
    expect(reply.body).toEqual({
      status: "success",
      environment: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "feature-test",
        status: "creating",
        urls: {
          backend: "https://feature-test--api.env.example.test:18443",
          frontend: "https://feature-test.env.example.test:18443",
        },
        created_at: "2026-06-01T12:00:00.000Z",
        expires_at: "2026-06-03T12:00:00.000Z",
        ttl_hours: 48,
      },
    });
    expect((await service.environments.find("feature-test"))?.spec).toEqual({
      ttlHours: 48,
      backend: { repository: "shop-api", branch: "main", commit: "9f2c1d4e8f5a4a399d0b6a1f6c1f7f1011223344" },
      frontend: { repository: "shop-web", branch: "feature/x" },
      owner: { subject: `${service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
      access: { groups: ["shop"] },
      trigger: { kind: "api" },
    });
  });

  test("leaves a pull request's name to the pull request, whatever Repository is asked for", async () => {
    service.repositories.put(aRepository("shop-admin", { pullRequest: { enabled: true } }));
    for (const environment_name of ["shop-admin-pr-9", "shop-admin-pr-10"]) {
      const reply = await create("developer", { ...minimal, environment_name });
      expectProblem(
        reply,
        400,
        /environment_name: is reserved for the environment of a pull request/,
        "ENV_CONFIG_INVALID",
      );
      expect(await service.environments.find(environment_name)).toBeUndefined();
    }
    // Pull requests of that Repository get no environments, so the name is free.
    expect((await create("developer", { ...minimal, environment_name: "shop-api-pr-9" })).status).toBe(200);
  });

  test("takes 24 hours, no frontend and the latest commit when nothing else is said", async () => {
    const reply = await create();
    expect(reply.body.environment).toMatchObject({ ttl_hours: 24, urls: { backend: expect.any(String) } });
    expect(reply.body.environment.urls).not.toHaveProperty("frontend");
    expect((await service.environments.find("feature-test"))?.spec).not.toHaveProperty("frontend");
  });

  test("takes the frontend repository's default branch, and empty optional fields as left out", async () => {
    const empty = { backend_commit: "", frontend_branch: "", frontend_commit: "", config_set: "" };
    await create("developer", { ...minimal, ...empty, frontend_repo: "shop-web" });
    const made = await service.environments.find("feature-test");
    expect(made?.spec.frontend).toEqual({ repository: "shop-web", branch: "trunk" });
  });

  test("takes null for every optional field as left out", async () => {
    const optional = ["backend_commit", "frontend_repo", "frontend_branch", "frontend_commit", "ttl"];
    const more = ["provision_database", "auto_generate_secrets", "use_shared_api_keys", "config_set"];
    const nothing = Object.fromEntries([...optional, ...more].map((field) => [field, null]));
    const overrides = { helm_values: { backend: { env: null, replicas: 2, resources: null }, frontend: null } };
    expect((await create("developer", { ...minimal, ...nothing, config_overrides: overrides })).status).toBe(200);
    const made = await service.environments.find("feature-test");
    expect(made?.spec).toMatchObject({ ttlHours: 24, overrides: { backend: { replicas: 2 } } });
    expect(made?.spec).not.toHaveProperty("frontend");
    expect(made?.spec).not.toHaveProperty("secrets");
  });

  test("passes by a frontend's branch and commit where no frontend is asked for", async () => {
    expect((await create("developer", { ...minimal, frontend_branch: "x", frontend_commit: "abcdef0" })).status).toBe(
      200,
    );
    expect((await service.environments.find("feature-test"))?.spec).not.toHaveProperty("frontend");
  });

  test.each(["dependabot/npm_and_yarn/@types/node-22", "feature/a+b", "release#2", "größe/日本語"])(
    "takes the branch %s, and tells of it as it is",
    async (branch) => {
      await create("developer", { ...minimal, backend_branch: branch });
      const detail = await call("get", "/api/environments/feature-test", "developer");
      expect(detail.body.repositories.backend.branch).toBe(branch);
    },
  );

  test("takes a branch of a form as the form encodes it", async () => {
    const authorization = await service.bearer("developer");
    const form = "environment_name=feature-test&backend_repo=shop-api&backend_branch=feature%2Fa%2Bgr%C3%B6%C3%9Fe%23";
    await service.http
      .post("/api/environments")
      .set({ authorization })
      .type("form")
      .send(`${form}&provision_database=On`);
    const made = await service.environments.find("feature-test");
    expect(made?.spec).toMatchObject({ backend: { branch: "feature/a+größe#" }, database: { provision: true } });
  });

  test("takes a form with the same names", async () => {
    const reply = await service.http
      .post("/api/environments")
      .set("authorization", await service.bearer("developer"))
      .type("form")
      .send({ ...minimal, frontend_repo: "", ttl: "12", provision_database: "false", config_overrides: "{}" });
    expectPromised(reply, "post", "/api/environments");
    expect(reply.body.environment).toMatchObject({ name: "feature-test", ttl_hours: 12 });
  });

  test.each([
    { backend: "open-api", frontend: "open-web", groups: [] },
    { backend: "shop-api", frontend: undefined, groups: ["shop", "platform"] },
    { backend: "open-api", frontend: "shop-web", groups: ["shop"] },
    { backend: "shop-api", frontend: "shop-web", groups: ["shop"] },
  ])("is shared with $groups when made of $backend and $frontend", async ({ backend, frontend, groups }) => {
    await create("developer", { ...minimal, backend_repo: backend, ...(frontend ? { frontend_repo: frontend } : {}) });
    expect((await service.environments.find("feature-test"))?.spec.access).toEqual({ groups });
  });

  test("refuses a name in use, as the specification words it", async () => {
    await create();
    const reply = await create("stranger", { ...minimal, backend_repo: "open-api" });
    expectProblem(reply, 400, "Environment name already exists", "ENV_NAME_EXISTS");
    expect(reply.headers).not.toHaveProperty("retry-after");
    expect(service.environments.list()).toHaveLength(1);
  });

  test("says when to try again while the name's holder is being deleted", async () => {
    await create();
    await call("delete", "/api/environments/feature-test", "developer");
    const reply = await create();
    expectProblem(reply, 400, "Environment name already exists", "ENV_NAME_EXISTS");
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("answers 503 and when to try again while the cluster can't be reached", async () => {
    service.environments.setReachable(false);
    const reply = await create();
    expectProblem(reply, 503, /Kubernetes API/, "ENV_CREATION_FAILED");
    expect(Number(reply.headers["retry-after"])).toBeGreaterThan(0);
  });

  test("answers a fault without a word about it, and logs it once with the request's id", async () => {
    service.environments.failNext(new Error("secret internals at /var/run"));
    const reply = await create();
    expectProblem(reply, 500, "Failed to create environment", "ENV_CREATION_FAILED");
    const logged = service.log.filter(({ level }) => level === "error");
    expect(logged).toHaveLength(1);
    expect(logged[0]?.facts.requestId).toBe(reply.headers["x-request-id"]);
  });
});
