import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { FINALIZER } from "../../crds/group.ts";
import type { Repository } from "../../crds/repository/repository.ts";
import { aRepository } from "../support/doubles/memory/repositories.ts";
import { expectProblem, expectPromised } from "../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../support/http/api-service.ts";

const PATH = "/api/repos";

const full = aRepository("shop-api", {
  provider: "repohost",
  hostId: "4711",
  fullName: "shop/shop-api",
  cloneUrl: "https://reader:hunter2@git.example.test/shop/shop-api.git",
  defaultBranch: "trunk",
  chart: { repoUrl: "https://x:hunter3@git.example.test/charts.git", path: "shop", revision: "v1" },
  image: { repository: "registry.example.test/shop", tagTemplate: "{short}" },
  port: 3000,
  healthPath: "/healthz",
  secrets: [{ name: "API_KEY", kind: "token", length: 20 }, { name: "OTHER" }],
  overridable: ["backend.cache.size"],
  companionRepository: "shop-web",
  maxEnvironments: 2,
  access: { groups: ["shop"] },
  pullRequest: { enabled: true, createOn: ["opened"], branchPattern: "feature/.+", ttlHours: 8, configSet: "web" },
  pipeline: { onCanceled: "any" },
  notify: { chatChannel: "#shop", events: ["failed"] },
  webhookSecretRef: { name: "shop-webhook", key: "latest" },
  credentialsRef: { name: "shop-git", key: "latest" },
  imagePullSecretRef: { name: "shop-registry", key: "3" },
});

let service: ApiService;
beforeEach(async () => {
  const billing = aRepository("billing-api", { access: { groups: ["billing"] } });
  service = await startApiService({ repositories: [full, aRepository("open-web", { type: "frontend" }), billing] });
});
afterEach(() => service.stop());

async function call(method: "get" | "post", path: string, as: Person = "developer") {
  const authorization = await service.bearer(as);
  const reply = await service.http[method](path).set({ authorization });
  const isOne = path.startsWith(`${PATH}/`) && !path.endsWith("/reload");
  expectPromised(reply, method, isOne ? `${PATH}/{id}` : (path.split("?")[0] ?? ""));
  return reply;
}

describe("a repository", () => {
  test("is reported with all that holds, and no credential", async () => {
    service.repositories.put({ ...full, status: { reachable: true, lastCheckedAt: "2026-06-01T11:00:00.123Z" } });
    const { body, text } = await call("get", `${PATH}/shop-api`);
    expect(body.data).toEqual({
      id: "shop-api",
      name: "shop-api",
      type: "backend",
      provider: "repohost",
      host_id: "4711",
      full_name: "shop/shop-api",
      clone_url: "https://git.example.test/shop/shop-api.git",
      default_branch: "trunk",
      chart: { repo_url: "https://git.example.test/charts.git", path: "shop", revision: "v1" },
      image: { repository: "registry.example.test/shop", tag_template: "{short}" },
      port: 3e3,
      health_path: "/healthz",
      secrets: [
        { name: "API_KEY", kind: "token", length: 20 },
        { name: "OTHER", kind: "password", length: 32 },
      ],
      overridable: ["backend.cache.size"],
      companion_repo: "shop-web",
      max_environments: 2,
      access: { groups: ["shop"] },
      pull_request: {
        enabled: true,
        create_on: ["opened"],
        delete_on: ["closed", "merged"],
        skip_draft: false,
        required_labels: [],
        branch_pattern: "feature/.+",
        ttl_hours: 8,
        config_set: "web",
        forks: "deny",
      },
      pipeline: { create_on_success: true, on_canceled: "any" },
      notify: { chat_channel: "#shop", on: ["failed"] },
      reachable: true,
      last_checked_at: "2026-06-01T11:00:00.123Z",
    });
    expect(text).not.toMatch(/hunter|shop-(webhook|git|registry)|[cC]redential|[pP]ull_?[sS]ecret/);
  });

  test("whose chart is of a registry is reported in the same fields, with its name and its version", async () => {
    const chart = { repoUrl: "oci://registry.example.test/charts", chart: "shop", version: "1.2.3" };
    service.repositories.put({ ...full, spec: { ...full.spec, chart } });
    const { body } = await call("get", `${PATH}/shop-api`);
    expect(body.data.chart).toEqual({ repo_url: chart.repoUrl, path: "shop", revision: "1.2.3" });
  });

  test("is reported with the defaults where it says nothing", async () => {
    const { body } = await call("get", `${PATH}/open-web`);
    expect(body.data).toMatchObject({
      provider: null,
      host_id: null,
      full_name: null,
      default_branch: "main",
      port: 8080,
      health_path: "/",
      image: { tag_template: "{commit}" },
      secrets: [{ name: "DATABASE_PASSWORD" }, { name: "SECRET_KEY" }, { name: "API_TOKEN" }],
      overridable: [],
      companion_repo: null,
      max_environments: null,
      access: { groups: [] },
      pull_request: { enabled: false, create_on: expect.any(Array), branch_pattern: null, ttl_hours: null },
      reachable: null,
      last_checked_at: null,
    });
    expect(body.data).not.toHaveProperty("chart");
  });

  test("has the default chart where it names none", async () => {
    const { body } = await call("get", `${PATH}/billing-api`, "maintainer");
    expect(body.data.chart).toEqual({
      repo_url: "https://git.example.test/charts.git",
      path: "environment",
      revision: "main",
    });
  });

  test.each(["absent", "billing-api", "__proto__", "UPPER"])(
    "that is not there or not theirs is answered alike: %s",
    async (id) => {
      expectProblem(await call("get", `${PATH}/${id}`), 404, "Repository not found", "ENV_REPO_NOT_FOUND");
    },
  );
});

describe("the list of repositories", () => {
  const ids = async (as: Person, query = "") => {
    const { body } = await call("get", `${PATH}${query}`, as);
    return { ...body.data, items: body.data.items.map(({ id }: { id: string }) => id) };
  };

  test("has those that the caller may use, by name, and counts no others", async () => {
    expect(await ids("developer")).toEqual({ items: ["open-web", "shop-api"], total: 2, limit: 50, offset: 0 });
    expect(await ids("stranger")).toMatchObject({ items: ["billing-api", "open-web"], total: 2 });
    expect(await ids("maintainer", "?limit=2&offset=1")).toEqual({
      items: ["open-web", "shop-api"],
      total: 3,
      limit: 2,
      offset: 1,
    });
  });
});

describe("a reload", () => {
  test("reports the differences from the one before", async () => {
    expect((await call("post", `${PATH}/reload`, "maintainer")).body.data).toEqual({
      loaded: 3,
      added: ["billing-api", "open-web", "shop-api"],
      updated: [],
      removed: [],
      errors: [],
    });
    service.repositories.drop("open-web");
    service.repositoryReloads.find("shop-api", "there is no branch 'trunk'");
    expect((await call("post", `${PATH}/reload`, "maintainer")).body.data).toEqual({
      loaded: 1,
      added: [],
      updated: [],
      removed: ["open-web"],
      errors: [{ id: "shop-api", message: "there is no branch 'trunk'" }],
    });
  });

  // Abuse case 23.
  test.each<Person>(["outsider", "viewer", "developer"])("is refused to %s", async (person) => {
    expectProblem(await call("post", `${PATH}/reload`, person), 403);
  });
});

describe("a creation", () => {
  const create = async (body: object = {}) => {
    const authorization = await service.bearer("developer");
    const given = { environment_name: "one-more", backend_repo: "shop-api", backend_branch: "main", ...body };
    const reply = await service.http.post("/api/environments").set({ authorization }).send(given);
    expectPromised(reply, "post", "/api/environments");
    return reply;
  };
  const having = async (count: number, spec: object) => {
    for (let i = 1; i <= count; i += 1) {
      await service.environments.create(`env-${i}`, { backend: { repository: "other", branch: "main" }, ...spec });
    }
  };

  test("is refused while a repository has as many environments as it may have", async () => {
    await having(2, { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } });
    expectProblem(await create(), 409, "Repository 'shop-api' has as many environments as it may have: 2");
    service.environments.finishRemoval("env-1");
    expect((await create()).status).toBe(200);
  });

  test("counts the environments of a frontend, too", async () => {
    service.repositories.put(aRepository("open-web", { type: "frontend", maxEnvironments: 1 }));
    await having(1, { frontend: { repository: "open-web", branch: "main" } });
    expectProblem(await create({ frontend_repo: "open-web" }), 409);
    expect((await create()).status).toBe(200);
  });

  test("counts one that is being deleted until it is gone", async () => {
    await having(2, { backend: { repository: "shop-api", branch: "main" }, access: { groups: ["shop"] } });
    const leaving = await service.environments.find("env-1");
    if (leaving !== undefined) await service.environments.remove(leaving);
    expectProblem(await create(), 409);
    service.environments.finishRemoval("env-1");
    expect((await create()).status).toBe(200);
  });

  test("finds no repository that is being deleted", async () => {
    const leaving = { finalizers: [FINALIZER], deletionTimestamp: "2026-06-01T12:00:00Z" };
    const repository: Repository = { ...full, metadata: { ...full.metadata, ...leaving } };
    service.repositories.put(repository);
    expectProblem(
      await create(),
      400,
      "backend_repo: no backend repository 'shop-api' is registered",
      "ENV_REPO_NOT_FOUND",
    );
  });
});
