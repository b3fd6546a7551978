import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { aRepository } from "../support/doubles/memory/repositories.ts";
import { expectProblem, expectPromised } from "../support/http/api-promises.ts";
import { type ApiService, type Person, type ServiceOptions, startApiService } from "../support/http/api-service.ts";

const SAMPLE = "/api/demos/sample-environment";

let service: ApiService;
const start = async (options: ServiceOptions = {}) => {
  service = await startApiService(options);
};
afterEach(() => service.stop());

async function call(method: "get" | "post", path: string, as: Person = "developer") {
  const reply = await service.http[method](path).set({ authorization: await service.bearer(as) });
  expectPromised(reply, method, path);
  return reply;
}

describe("the demo dashboard", () => {
  beforeEach(() => start());

  test("says that it is a demo, and adds up", async () => {
    const { body } = await call("get", "/api/demos/dashboard", "viewer");
    const { environments, trends, success_rate, ...rest } = body.data;
    expect(rest).toMatchObject({ demo: true, period: { from: expect.any(String), to: expect.any(String) } });
    const { created, deleted, expired, failed } = environments;
    const sum = (key: string) => trends.reduce((all: number, day: Record<string, number>) => all + (day[key] ?? 0), 0);
    expect({ created: sum("created"), failed: sum("failed"), gone: sum("deleted") }).toEqual({
      created,
      failed,
      gone: deleted + expired,
    });
    expect(success_rate).toBe((created - failed) / created);
    expect(rest.total_cost_cents).toBe(Math.round(rest.total_cost * 100));
  });

  test("is refused to callers who may not read insights", async () => {
    expectProblem(await call("get", "/api/demos/dashboard", "outsider"), 403);
  });
});

describe("a sample environment", () => {
  test("is a real one, of the first backend that the caller may use, for two hours", async () => {
    await start();
    const { body } = await call("post", SAMPLE, "stranger");
    expect(body).toMatchObject({ status: "success", demo: true, environment: { status: "creating", ttl_hours: 2 } });
    const made = await service.environments.find(body.environment.name);
    expect(made?.spec).toMatchObject({
      backend: { repository: "billing-api", branch: "main" },
      ttlHours: 2,
      owner: { email: "out@example.test" },
      access: { groups: ["billing"] },
    });
  });

  test("is another one each time", async () => {
    await start();
    const names = [await call("post", SAMPLE), await call("post", SAMPLE)].map(({ body }) => body.environment.name);
    expect(new Set(names).size).toBe(2);
    expect(names).toEqual(names.map(() => expect.stringMatching(/^demo-[0-9a-f]{10}$/)));
  });

  test("skips repositories without their branch, and full ones while another has room", async () => {
    const missing = {
      type: "Ready",
      status: "False" as const,
      reason: "BranchNotFound",
      message: "",
      observedGeneration: 1,
    };
    const conditions = [{ ...missing, lastTransitionTime: "2026-01-01T00:00:00.000Z" }];
    const repositories = [
      { ...aRepository("a-backend"), status: { reachable: true, conditions } },
      aRepository("b-backend", { maxEnvironments: 1 }),
      aRepository("c-backend"),
    ];
    await start({ repositories });
    const names = [await call("post", SAMPLE), await call("post", SAMPLE)].map(({ body }) => body.environment.name);
    const made = await Promise.all(names.map((name) => service.environments.find(name)));
    expect(made.map((environment) => environment?.spec.backend.repository)).toEqual(["b-backend", "c-backend"]);
  });

  test("skips unreachable repositories, and uses the repository's default branch", async () => {
    const away = { ...aRepository("a-backend"), status: { reachable: false } };
    await start({
      repositories: [
        away,
        aRepository("b-frontend", { type: "frontend" }),
        aRepository("c-backend", { defaultBranch: "trunk" }),
      ],
    });
    const { body } = await call("post", SAMPLE);
    const made = await service.environments.find(body.environment.name);
    expect(made?.spec.backend).toEqual({ repository: "c-backend", branch: "trunk" });
  });

  test("lives no longer than the settings allow", async () => {
    await start({ settings: { ttl: { maximumHours: 1 } } });
    expect((await call("post", SAMPLE)).body.environment).toMatchObject({ ttl_hours: 1 });
  });

  test("is refused where there is no backend for the caller", async () => {
    await start({ repositories: [aRepository("shop-api", { access: { groups: ["shop"] } })] });
    const detail = "there is no backend repository that you may use: register one";
    expectProblem(await call("post", SAMPLE, "stranger"), 400, detail, "ENV_CONFIG_INVALID");
  });

  test("is refused while the repository has as many as it may have", async () => {
    await start({ repositories: [aRepository("shop-api", { maxEnvironments: 1 })] });
    expect((await call("post", SAMPLE)).status).toBe(200);
    expectProblem(await call("post", SAMPLE), 409, /as many environments as it may have/);
  });

  test("is refused to callers who may not create", async () => {
    await start();
    expectProblem(await call("post", SAMPLE, "viewer"), 403);
    expect(service.environments.list()).toEqual([]);
  });
});
