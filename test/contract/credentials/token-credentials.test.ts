import { describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { callsWithToken, minimal } from "./calls-with-token.ts";

const api = callsWithToken();
const { restart, as, person } = api;

describe.each(["/api", "/api/v2"])("an API token below %s", (prefix) => {
  test("creates, reads, extends and deletes as its owner, with ENV_CREATE", async () => {
    const { value } = await api.service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    expect((await as(value).post(`${prefix}/environments`, minimal)).status).toBe(200);
    const environment = await api.service.environments.find("feature-test");
    expect(environment?.spec).toMatchObject({
      owner: { subject: `${api.service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
      access: { groups: ["shop", "platform"] },
    });
    expect((await as(value).get(`${prefix}/environments/feature-test`)).status).toBe(200);
    const own = await api.service.http.get(`${prefix}/environments/feature-test`).set("authorization", await person());
    expect(own.status).toBe(200);
    expect((await as(value).delete(`${prefix}/environments/feature-test`)).status).toBe(200);
  });

  test("only reads with ENV_READ", async () => {
    await api.service.environments.create("feature-test", {
      backend: { repository: "shop-api", branch: "main" },
      access: { groups: ["shop"] },
    });
    const { value } = await api.service.makeToken("developer", { scopes: ["ENV_READ"] });
    expect((await as(value).get(`${prefix}/environments/feature-test`)).status).toBe(200);
    const authorization = `Bearer ${value}`;
    const path = `${prefix}/environments/feature-test`;
    const put = await api.service.http.put(path).set({ authorization }).send({ ttl_hours: 48 });
    expectProblem(put, 403, /environments:update/);
    expectProblem(await as(value).delete(path), 403, /environments:delete/);
    expectProblem(await as(value).post(`${prefix}/environments`, minimal), 403, /environments:create/);
    expect((await api.service.environments.find("feature-test"))?.metadata.generation).toBe(1);
  });

  test("makes no environment with CONFIG_WRITE alone, and changes no config set with ENV_CREATE", async () => {
    const config = await api.service.makeToken("maintainer", { scopes: ["CONFIG_WRITE"] });
    expectProblem(await as(config.value).post(`${prefix}/environments`, minimal), 403, /environments:create/);
    expectProblem(await as(config.value).get(`${prefix}/environments`), 403, /environments:read/);
    expect((await as(config.value).post(`${prefix}/config-sets`, { name: "web" })).status).toBe(201);
    const create = await api.service.makeToken("maintainer", { scopes: ["ENV_CREATE"] });
    expectProblem(await as(create.value).post(`${prefix}/config-sets`, { name: "api-set" }), 403, /configs:write/);
    expect(api.service.environments.list()).toEqual([]);
  });

  test("has a read alias that reads, and a create alias that creates", async () => {
    const read = await api.service.makeToken("developer", { scopes: ["environments:read"] });
    expectProblem(await as(read.value).post(`${prefix}/environments`, minimal), 403);
    const create = await api.service.makeToken("developer", { scopes: ["environments:create"] });
    expect((await as(create.value).post(`${prefix}/environments`, minimal)).status).toBe(200);
  });

  test("sees the environments of its owner, and no others", async () => {
    for (const group of ["shop", "billing"]) {
      await api.service.environments.create(`of-${group}`, {
        backend: { repository: "r", branch: "main" },
        access: { groups: [group] },
      });
    }
    const seen = async (owner: "developer" | "stranger" | "maintainer") => {
      const { value } = await api.service.makeToken(owner, { scopes: ["ENV_READ"] });
      const { body } = await as(value).get(`${prefix}/environments`);
      return (body.data ?? body).environments.map(({ name }: { name: string }) => name).sort();
    };
    expect(await seen("developer")).toEqual(["of-shop"]);
    expect(await seen("stranger")).toEqual(["of-billing"]);
    expect(await seen("maintainer")).toEqual(["of-billing", "of-shop"]);
  });
});

describe("the identity of a token's bearer", () => {
  test.each(["/api", "/api/v2"])("with an ID token, below %s", async (prefix) => {
    const reply = await api.service.http.get(`${prefix}/auth/user`).set("authorization", await person());
    expectPromised(reply, "get", `${prefix}/auth/user`);
    expect(reply.body.data).toEqual({
      id: `${api.service.issuer.issuer}#dev`,
      email: "dev@example.test",
      name: "Dev",
      roles: ["developer"],
      groups: ["developers", "shop"],
      auth_method: "id_token",
      permissions: expect.arrayContaining(["environments:create", "tokens:manage"]),
      scopes: null,
      token_id: null,
      token_expires_at: "2026-06-01T13:00:00.000Z",
    });
  });

  test("with an API token", async () => {
    const { id, value } = await api.service.makeToken("maintainer", { scopes: ["ENV_READ", "CONFIG_READ"] });
    const reply = await as(value).get("/api/auth/user");
    expectPromised(reply, "get", "/api/auth/user");
    expect(reply.body.data).toEqual({
      id: `${api.service.issuer.issuer}#mai`,
      email: "mai@example.test",
      name: "Mai",
      roles: ["maintainer"],
      groups: ["maintainers"],
      auth_method: "api_token",
      permissions: ["environments:read", "configs:read", "repos:read", "environments:all"],
      scopes: ["ENV_READ", "CONFIG_READ"],
      token_id: id,
      token_expires_at: null,
    });
  });

  test("without a role, too", async () => {
    const reply = await api.service.http
      .get("/api/auth/user")
      .set("authorization", await api.service.bearer("outsider"));
    expect(reply.body.data).toMatchObject({ roles: [], permissions: [], groups: [] });
  });
});

test("each token has a budget of its own, beside its owner's", async () => {
  await restart({ limits: { authenticatedPerMinute: 2 } });
  const [one, other] = [await api.service.makeToken("developer"), await api.service.makeToken("developer")];
  const statuses = async (authorization: string) => {
    const seen: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      seen.push((await api.service.http.get("/api/environments").set({ authorization })).status);
    }
    return seen;
  };
  expect(await statuses(`Bearer ${one.value}`)).toEqual([200, 200, 429]);
  expect(await statuses(`Bearer ${other.value}`)).toEqual([200, 200, 429]);
  expect(await statuses(await person())).toEqual([200, 200, 429]);
});

test("the last use is shown, to the minute", async () => {
  const { value } = await api.service.makeToken("developer");
  const lastUse = async () => {
    const reply = await api.service.http.get("/api/tokens").set("authorization", await person());
    return reply.body.data.items[0].last_used_at;
  };
  expect(await lastUse()).toBeNull();
  await as(value).get("/api/environments");
  expect(await lastUse()).toBe("2026-06-01T12:00:00.500Z");
  api.service.clock.advance(59_000);
  await as(value).get("/api/environments");
  expect(await lastUse()).toBe("2026-06-01T12:00:00.500Z");
  api.service.clock.advance(1_000);
  await as(value).get("/api/environments");
  expect(await lastUse()).toBe("2026-06-01T12:01:00.500Z");
});

describe("while the API server is away", () => {
  test("a token that was good a moment ago reads on for a minute, and changes nothing", async () => {
    const { value } = await api.service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    await as(value).get("/api/environments");
    api.service.apiTokens.setReachable(false);
    api.service.clock.advance(60_000);
    expect((await as(value).get("/api/environments")).status).toBe(200);
    const change = await as(value).post("/api/environments", minimal);
    expectProblem(change, 503, /Kubernetes API/);
    expectPromised(change, "post", "/api/environments");
    expect(Number(change.headers["retry-after"])).toBeGreaterThan(0);
    api.service.clock.advance(2_000);
    expectProblem(await as(value).get("/api/environments"), 503, /Kubernetes API/);
    expect((await as(value).get("/api/status")).status).toBe(200);
    api.service.apiTokens.setReachable(true);
    expect((await as(value).post("/api/environments", minimal)).status).toBe(200);
  });
});
