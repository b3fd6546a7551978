import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { tokenOf, tokenTraits } from "../../../crds/api-token.ts";
import { until } from "../../support/fixtures/until.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, PEOPLE, type ServiceOptions, startApiService } from "../../support/http/api-service.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService();
});
afterEach(() => service.stop());

const restart = async (options: ServiceOptions) => {
  await service.stop();
  service = await startApiService(options);
};
const DAY_MS = 86_400_000;
const minimal = { environment_name: "feature-test", backend_repo: "shop-api", backend_branch: "main" };

const as = (token: string) => ({
  get: (path: string) => service.http.get(path).set("authorization", `Bearer ${token}`),
  post: (path: string, body: object) => service.http.post(path).set("authorization", `Bearer ${token}`).send(body),
  delete: (path: string) => service.http.delete(path).set("authorization", `Bearer ${token}`),
});
const person = async (claims: { groups?: readonly string[] } = {}) => service.bearer("developer", claims);

describe.each(["/api", "/api/v2"])("an API token below %s", (prefix) => {
  test("creates, reads, extends and deletes as its owner, with ENV_CREATE", async () => {
    const { value } = await service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    expect((await as(value).post(`${prefix}/environments`, minimal)).status).toBe(200);
    const environment = await service.environments.find("feature-test");
    expect(environment?.spec).toMatchObject({
      owner: { subject: `${service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
      access: { groups: ["shop", "platform"] },
    });
    expect((await as(value).get(`${prefix}/environments/feature-test`)).status).toBe(200);
    const own = await service.http.get(`${prefix}/environments/feature-test`).set("authorization", await person());
    expect(own.status).toBe(200);
    expect((await as(value).delete(`${prefix}/environments/feature-test`)).status).toBe(200);
  });

  test("only reads with ENV_READ", async () => {
    await service.environments.create("feature-test", {
      backend: { repository: "shop-api", branch: "main" },
      access: { groups: ["shop"] },
    });
    const { value } = await service.makeToken("developer", { scopes: ["ENV_READ"] });
    expect((await as(value).get(`${prefix}/environments/feature-test`)).status).toBe(200);
    const authorization = `Bearer ${value}`;
    const path = `${prefix}/environments/feature-test`;
    const put = await service.http.put(path).set({ authorization }).send({ ttl_hours: 48 });
    expectProblem(put, 403, /environments:update/);
    expectProblem(await as(value).delete(path), 403, /environments:delete/);
    expectProblem(await as(value).post(`${prefix}/environments`, minimal), 403, /environments:create/);
    expect((await service.environments.find("feature-test"))?.metadata.generation).toBe(1);
  });

  test("makes no environment with CONFIG_WRITE alone, and changes no config set with ENV_CREATE", async () => {
    const config = await service.makeToken("maintainer", { scopes: ["CONFIG_WRITE"] });
    expectProblem(await as(config.value).post(`${prefix}/environments`, minimal), 403, /environments:create/);
    expectProblem(await as(config.value).get(`${prefix}/environments`), 403, /environments:read/);
    expect((await as(config.value).post(`${prefix}/config-sets`, { name: "web" })).status).toBe(201);
    const create = await service.makeToken("maintainer", { scopes: ["ENV_CREATE"] });
    expectProblem(await as(create.value).post(`${prefix}/config-sets`, { name: "api-set" }), 403, /configs:write/);
    expect(service.environments.list()).toEqual([]);
  });

  test("has a read alias that reads, and a create alias that creates", async () => {
    const read = await service.makeToken("developer", { scopes: ["environments:read"] });
    expectProblem(await as(read.value).post(`${prefix}/environments`, minimal), 403);
    const create = await service.makeToken("developer", { scopes: ["environments:create"] });
    expect((await as(create.value).post(`${prefix}/environments`, minimal)).status).toBe(200);
  });

  test("sees the environments of its owner, and no others", async () => {
    for (const group of ["shop", "billing"]) {
      await service.environments.create(`of-${group}`, {
        backend: { repository: "r", branch: "main" },
        access: { groups: [group] },
      });
    }
    const seen = async (owner: "developer" | "stranger" | "maintainer") => {
      const { value } = await service.makeToken(owner, { scopes: ["ENV_READ"] });
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
    const reply = await service.http.get(`${prefix}/auth/user`).set("authorization", await person());
    expectPromised(reply, "get", `${prefix}/auth/user`);
    expect(reply.body.data).toEqual({
      ...{ id: `${service.issuer.issuer}#dev`, email: "dev@example.test", name: "Dev" },
      ...{ roles: ["developer"], groups: ["developers", "shop"], auth_method: "id_token" },
      permissions: expect.arrayContaining(["environments:create", "tokens:manage"]),
      ...{ scopes: null, token_id: null, token_expires_at: "2026-06-01T13:00:00.000Z" },
    });
  });

  test("with an API token", async () => {
    const { id, value } = await service.makeToken("maintainer", { scopes: ["ENV_READ", "CONFIG_READ"] });
    const reply = await as(value).get("/api/auth/user");
    expectPromised(reply, "get", "/api/auth/user");
    expect(reply.body.data).toEqual({
      ...{ id: `${service.issuer.issuer}#mai`, email: "mai@example.test", name: "Mai" },
      ...{ roles: ["maintainer"], groups: ["maintainers"], auth_method: "api_token" },
      permissions: ["environments:read", "configs:read", "repos:read", "environments:all"],
      ...{ scopes: ["ENV_READ", "CONFIG_READ"], token_id: id, token_expires_at: null },
    });
  });

  test("without a role, too", async () => {
    const reply = await service.http.get("/api/auth/user").set("authorization", await service.bearer("nobody"));
    expect(reply.body.data).toMatchObject({ roles: [], permissions: [], groups: [] });
  });
});

describe("guessing tokens", () => {
  test.each([
    ["too short", "svc_AAAA"],
    ["too long", `svc_${"A".repeat(44)}`],
    ["of 8 kB", `svc_${"A".repeat(8000)}`],
    ["in other letters", `SVC_${"A".repeat(43)}`],
    ["with a sign that is in none", `svc_${"A".repeat(42)}.`],
    ["the prefix alone", "svc_"],
  ])("with one that is %s asks nobody", async (_what, guess) => {
    expectProblem(await as(guess).get("/api/environments"), 401, "Invalid or expired credentials");
    expect(service.apiTokens.reads).toEqual([]);
  });

  test("is refused without a hint, also for one that differs in its last letter", async () => {
    const { value } = await service.makeToken("developer");
    const last = value.endsWith("A") ? "E" : "A";
    for (const guess of [tokenOf(randomBytes(32)), `${value.slice(0, -1)}${last}`]) {
      expectProblem(await as(guess).get("/api/environments"), 401, "Invalid or expired credentials");
    }
  });

  test("is refused when only the id fits: the whole hash decides", async () => {
    const guess = tokenOf(randomBytes(32));
    const { id, tokenHash } = tokenTraits(guess);
    await service.makeToken("admin", { tokenHash: `${id}${"0".repeat(tokenHash.length - id.length)}` });
    expect(service.apiTokens.known(id)).toBeDefined();
    expectProblem(await as(guess).get("/api/environments"), 401, "Invalid or expired credentials");
  });

  test("spends the budget of the address, and leaves a known token's alone", async () => {
    await restart({ limits: { unauthenticatedPerMinute: 3 } });
    const { value } = await service.makeToken("developer");
    const guesses: number[] = [];
    for (let count = 0; count < 5; count += 1) {
      guesses.push((await as(tokenOf(randomBytes(32))).get("/api/environments")).status);
    }
    expect(guesses).toEqual([401, 401, 401, 429, 429]);
    expect(service.apiTokens.reads).toHaveLength(3);
    expect((await as(value).get("/api/environments")).status).toBe(200);
  });
});

test("each token has a budget of its own, beside its owner's", async () => {
  await restart({ limits: { authenticatedPerMinute: 2 } });
  const [one, other] = [await service.makeToken("developer"), await service.makeToken("developer")];
  const statuses = async (authorization: string) => {
    const seen: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      seen.push((await service.http.get("/api/environments").set({ authorization })).status);
    }
    return seen;
  };
  expect(await statuses(`Bearer ${one.value}`)).toEqual([200, 200, 429]);
  expect(await statuses(`Bearer ${other.value}`)).toEqual([200, 200, 429]);
  expect(await statuses(await person())).toEqual([200, 200, 429]);
});

test("the last use is shown, to the minute", async () => {
  const { value } = await service.makeToken("developer");
  const lastUse = async () => {
    const reply = await service.http.get("/api/tokens").set("authorization", await person());
    return reply.body.data.items[0].last_used_at;
  };
  expect(await lastUse()).toBeNull();
  await as(value).get("/api/environments");
  expect(await lastUse()).toBe("2026-06-01T12:00:00.500Z");
  service.clock.advance(59_000);
  await as(value).get("/api/environments");
  expect(await lastUse()).toBe("2026-06-01T12:00:00.500Z");
  service.clock.advance(1_000);
  await as(value).get("/api/environments");
  expect(await lastUse()).toBe("2026-06-01T12:01:00.500Z");
});

describe("a changed owner", () => {
  const created = async (value: string) => (await as(value).post("/api/environments", minimal)).status;

  test("leaving a group removes it from the tokens with the next ID token", async () => {
    const { value } = await service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    service.clock.advance(1_000);
    const authorization = await person({ groups: ["shop"] });
    await service.http.get("/api/auth/user").set({ authorization });
    await until(() => service.apiTokens.list()[0]?.spec.vouched.groups.length === 1);
    expect(await created(value)).toBe(403);
    expect((await as(value).get("/api/auth/user")).body.data).toMatchObject({ roles: [], permissions: [] });
  });

  test("an older ID token gives a left group back to no token", async () => {
    const former = await person();
    service.clock.advance(1_000);
    const { value } = await service.makeToken("developer", {
      scopes: ["ENV_CREATE"],
      vouched: { groups: ["shop"], at: service.clock.now().toISOString() },
    });
    await service.http.get("/api/auth/user").set("authorization", former);
    expect(await created(value)).toBe(403);
    expect(service.apiTokens.writes).not.toContain("vouch");
  });

  test("a promotion reaches the tokens, as far as their scopes go", async () => {
    const { value } = await service.makeToken("viewer", { scopes: ["ENV_CREATE"] });
    expect(await created(value)).toBe(403);
    service.clock.advance(1_000);
    const groups = [...PEOPLE.viewer.groups, "developers"];
    await service.http.get("/api/auth/user").set("authorization", await service.bearer("viewer", { groups }));
    await until(() => service.apiTokens.list()[0]?.spec.vouched.groups.length === 3);
    expect(await created(value)).toBe(200);
  });

  test("a token whose owner did not sign in for 30 days is refused with the reason, and valid again after a sign-in", async () => {
    const { value } = await service.makeToken("developer");
    service.clock.advance(30 * DAY_MS);
    const reply = await as(value).get("/api/environments");
    expectProblem(reply, 401, /owner has not signed in for 30 days/);
    expectPromised(reply, "get", "/api/environments");
    await service.http.get("/api/auth/user").set("authorization", await person());
    await until(async () => (await as(value).get("/api/environments")).status === 200);
  });

  test("ends after as many days as the settings say", async () => {
    await restart({ api: { tokens: { confirmedDays: 2 } } });
    const { value } = await service.makeToken("developer");
    service.clock.advance(2 * DAY_MS - 1_000);
    expect((await as(value).get("/api/environments")).status).toBe(200);
    service.clock.advance(1_000);
    expectProblem(await as(value).get("/api/environments"), 401, /for 2 days/);
  });

  test("whose issuer is trusted no more has no tokens", async () => {
    const owner = { subject: "https://former.example.test#dev", email: "", name: "" };
    const { value } = await service.makeToken("admin", { owner });
    expectProblem(await as(value).get("/api/environments"), 401, "Invalid or expired credentials");
  });

  test("whose roles the settings give no more lose them for the tokens, too", async () => {
    await restart({ issuer: { roles: { admin: ["admins"] } } });
    const { value } = await service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    expect(await created(value)).toBe(403);
  });
});

describe("while the API server is away", () => {
  test("a token that was good a moment ago reads on for a minute, and changes nothing", async () => {
    const { value } = await service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    await as(value).get("/api/environments");
    service.apiTokens.setReachable(false);
    service.clock.advance(60_000);
    expect((await as(value).get("/api/environments")).status).toBe(200);
    const change = await as(value).post("/api/environments", minimal);
    expectProblem(change, 503, /Kubernetes API/);
    expectPromised(change, "post", "/api/environments");
    expect(Number(change.headers["retry-after"])).toBeGreaterThan(0);
    service.clock.advance(2_000);
    expectProblem(await as(value).get("/api/environments"), 503, /Kubernetes API/);
    expect((await as(value).get("/api/status")).status).toBe(200);
    service.apiTokens.setReachable(true);
    expect((await as(value).post("/api/environments", minimal)).status).toBe(200);
  });
});
