import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { tokenTraits } from "../../../crds/api-token.ts";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import {
  type ApiService,
  NOW,
  type Person,
  type ServiceOptions,
  startApiService,
} from "../../support/http/api-service.ts";

let service: ApiService;
const start = async (options: ServiceOptions = {}) => {
  service = await startApiService(options);
};
beforeEach(() => start());
afterEach(() => service.stop());

const restart = async (options: ServiceOptions) => {
  await service.stop();
  await start(options);
};
async function call(method: "get" | "post" | "delete", path: string, as: Person, body?: object) {
  const request = service.http[method](path).set("authorization", await service.bearer(as));
  return body === undefined ? request : request.send(body);
}
const wanted = { name: "CI", description: "Pipelines of the shop", scopes: ["ENV_CREATE", "ENV_READ"] };
const make = (as: Person = "developer", body: object = wanted) => call("post", "/api/tokens", as, body);
const made = async (as: Person = "developer", body: object = wanted) => (await make(as, body)).body.data;
const list = async (as: Person, query = "") => (await call("get", `/api/tokens${query}`, as)).body.data;

const DAY_MS = 86_400_000;

describe.each(["/api", "/api/v2"])("making a token below %s", (prefix) => {
  test("answers the record and, this once, the token", async () => {
    const reply = await call("post", `${prefix}/tokens`, "developer", wanted);
    expectPromised(reply, "post", `${prefix}/tokens`);
    expect(reply.status).toBe(201);
    const { token } = reply.body.data;
    expect(token).toMatch(/^svc_[A-Za-z0-9_-]{43}$/);
    expect(reply.body).toEqual({
      status: "success",
      data: {
        id: tokenTraits(token).id,
        ...wanted,
        token,
        token_prefix: token.slice(0, 10),
        status: "active",
        created_at: "2026-06-01T12:00:00.000Z",
        ...{ expires_at: null, last_used_at: null, revoked_at: null },
        owner: { email: "dev@example.test", name: "Dev" },
      },
      timestamp: NOW,
    });
    expect(reply.headers["cache-control"]).toBe("no-store");
  });
});

describe("a token that is made", () => {
  test("ends when it was asked to", async () => {
    const token = await made("developer", { ...wanted, expires_in_days: 90 });
    expect(token.expires_at).toBe(new Date(Date.parse(NOW) + 90 * DAY_MS).toISOString());
    const authorization = `Bearer ${token.token}`;
    service.clock.advance(90 * DAY_MS - 1);
    // Its owner has been here meanwhile.
    await list("developer");
    expect((await service.http.get("/api/environments").set({ authorization })).status).toBe(200);
    service.clock.advance(1);
    const reply = await service.http.get("/api/environments").set({ authorization });
    expectProblem(reply, 401, "The API token has expired");
    expectPromised(reply, "get", "/api/environments");
    expect((await list("developer")).items[0].status).toBe("expired");
  });

  test("waits until all tokens are known, or their bound would not hold", async () => {
    const { apiTokens } = service;
    const { list: all } = apiTokens;
    apiTokens.list = () => {
      throw new ClusterUnavailable(5);
    };
    const reply = await make();
    expectProblem(reply, 503, /Kubernetes API/);
    expectPromised(reply, "post", "/api/tokens");
    expect(all()).toEqual([]);
  });

  test("is another one each time, and may have the name of another", async () => {
    const [one, other] = [await made(), await made()];
    expect(one.token).not.toBe(other.token);
    expect(one.id).not.toBe(other.id);
  });

  test("leaves its value in the secret manager and nowhere else", async () => {
    const { token } = await made();
    await service.http.get("/api/environments").set("authorization", `Bearer ${token}`);
    const told = JSON.stringify([service.apiTokens.list(), service.log, service.audit]);
    for (const form of [token, token.slice("svc_".length), Buffer.from(token).toString("base64")]) {
      expect(told).not.toContain(form);
    }
  });

  test("is none when its value can't be kept", async () => {
    service.secretManager.setReachable(false);
    const reply = await make();
    expectProblem(reply, 503, /secret manager/);
    expectPromised(reply, "post", "/api/tokens");
    expect(service.apiTokens.list()).toEqual([]);
  });

  test("is none when the API server is away", async () => {
    service.apiTokens.setReachable(false);
    expectProblem(await make(), 503, /Kubernetes API/);
    expect(service.apiTokens.list()).toEqual([]);
  });

  test("is one of 200 at most, the revoked ones counted", async () => {
    for (let count = 0; count < 200; count += 1) await service.makeToken("developer");
    const reply = await make();
    expectProblem(reply, 409, /at most 200/);
    expectPromised(reply, "post", "/api/tokens");
    expect((await make("colleague")).status).toBe(201);
  });
});

describe("no token is made", () => {
  test.each<[string, object]>([
    ["a scope that nobody knows", { scopes: ["*"] }],
    ["a scope with a space", { scopes: ["ENV_CREATE "] }],
    ["a scope in small letters", { scopes: ["env_create"] }],
    ["a permission that is no scope", { scopes: ["tokens:manage"] }],
    ["an array in the array", { scopes: [["ENV_CREATE"]] }],
    ["ten thousand scopes", { scopes: Array.from({ length: 10_000 }, () => "ENV_READ") }],
    ["a scope that is given twice", { scopes: ["ENV_READ", "ENV_READ"] }],
    ["no scope", { scopes: [] }],
    ["a text of scopes", { scopes: "ENV_READ" }],
    ["an empty name", { name: "" }],
    ["a name of several lines", { name: "a\nb" }],
    ["a name of a terminal's signs", { name: "a\u001b[31mb" }],
    ["a name that is too long", { name: "x".repeat(101) }],
    ["a description that is too long", { description: "x".repeat(501) }],
    ["an end that has come", { expires_in_days: 0 }],
    ["an end that is never", { expires_in_days: 3651 }],
    ["an end in a text", { expires_in_days: "90" }],
    ["an owner", { owner: { email: "adm@example.test" } }],
    ["a value of one's own", { token: `svc_${"A".repeat(43)}` }],
  ])("with %s", async (_what, body) => {
    const reply = await make("developer", { ...wanted, ...body });
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expectPromised(reply, "post", "/api/tokens");
    expect(service.apiTokens.list()).toEqual([]);
  });

  test.each<[Person, string[]]>([
    ["developer", ["CONFIG_WRITE"]],
    ["developer", ["ENV_READ", "CONFIG_WRITE"]],
  ])("by a %s who lacks what %j asks for", async (person, scopes) => {
    const reply = await make(person, { ...wanted, scopes });
    expectProblem(reply, 403, /CONFIG_WRITE/);
    expect(service.apiTokens.list()).toEqual([]);
  });

  test.each<[string, string[]]>([
    ["the same rights", ["ENV_CREATE", "ENV_READ"]],
    ["fewer rights", ["ENV_READ"]],
  ])("by a token, for %s", async (_what, scopes) => {
    const { token } = await made();
    const authorization = `Bearer ${token}`;
    const reply = await service.http.post("/api/tokens").set({ authorization }).send({ name: "x", scopes });
    expectProblem(reply, 403, "This needs an ID token: an API token is not enough");
    expect(service.apiTokens.list()).toHaveLength(1);
  });
});

describe("the list of tokens", () => {
  test("shows one's own, the newest first, page by page, without values", async () => {
    for (const name of ["first", "second", "third"]) {
      await make("developer", { ...wanted, name });
      service.clock.advance(1_000);
    }
    await make("colleague");
    const reply = await call("get", "/api/tokens?limit=2", "developer");
    expectPromised(reply, "get", "/api/tokens");
    expect(reply.body.data).toMatchObject({ total: 3, limit: 2, offset: 0 });
    expect(reply.body.data.items.map(({ name }: { name: string }) => name)).toEqual(["third", "second"]);
    expect((await list("developer", "?limit=2&offset=2")).items).toMatchObject([{ name: "first" }]);
    expect(reply.text).not.toMatch(/svc_[A-Za-z0-9_-]{7}/);
    expect(reply.body.data.items[0]).not.toHaveProperty("token");
  });

  test("shows the tokens of all users to an admin who asks for them, and to no other caller", async () => {
    await make("developer");
    await make("colleague");
    expect((await list("admin")).total).toBe(0);
    expect(await list("admin", "?all=true")).toMatchObject({
      total: 2,
      items: expect.arrayContaining([expect.objectContaining({ owner: { email: "col@example.test", name: "Col" } })]),
    });
    for (const person of ["developer", "maintainer"] as const) {
      expectProblem(await call("get", "/api/tokens?all=true", person), 403, /tokens:all/);
      expect((await list(person, "?all=false")).total).toBe(person === "developer" ? 1 : 0);
    }
  });

  test("knows its owner by issuer and subject, never by the e-mail", async () => {
    await make("developer");
    const authorization = await service.bearer("stranger", { email: "dev@example.test" });
    expect((await service.http.get("/api/tokens").set({ authorization })).body.data.total).toBe(0);
  });

  test("keeps revoked ones, and says since when", async () => {
    const { id } = await made();
    await call("delete", `/api/tokens/${id}`, "developer");
    expect((await list("developer")).items).toMatchObject([{ id, status: "revoked", revoked_at: NOW }]);
  });
});

describe("a token that is revoked", () => {
  test("is refused from then on, and may be revoked again", async () => {
    const { id, token } = await made();
    const authorization = `Bearer ${token}`;
    expect((await service.http.get("/api/environments").set({ authorization })).status).toBe(200);
    const reply = await call("delete", `/api/tokens/${id}`, "developer");
    expectPromised(reply, "delete", "/api/tokens/{id}");
    expect(reply.body.data).toMatchObject({ id, status: "revoked", revoked_at: NOW });
    expectProblem(await service.http.get("/api/environments").set({ authorization }), 401, "The API token was revoked");
    service.clock.advance(5_000);
    const again = await call("delete", `/api/tokens/${id}`, "developer");
    expect(again.body.data).toEqual(reply.body.data);
  });

  test("is revoked by its owner and by admins, and is not there for others", async () => {
    const { id } = await made();
    for (const person of ["colleague", "maintainer", "stranger"] as const) {
      expectProblem(await call("delete", `/api/tokens/${id}`, person), 404, "Token not found");
    }
    expect((await list("developer")).items[0].status).toBe("active");
    expect((await call("delete", `/api/tokens/${id}`, "admin")).body.data.status).toBe("revoked");
  });

  test("is revoked by no token, not even by itself", async () => {
    const { id, token } = await made();
    const reply = await service.http.delete(`/api/tokens/${id}`).set("authorization", `Bearer ${token}`);
    expectProblem(reply, 403, /ID token/);
    expect((await list("developer")).items[0].status).toBe("active");
  });

  test("is of no more use while the secret manager is away; asking again removes its value, too", async () => {
    const { id, token } = await made();
    service.secretManager.setReachable(false);
    expectProblem(await call("delete", `/api/tokens/${id}`, "developer"), 503, /secret manager/);
    expectProblem(await service.http.get("/api/auth/user").set("authorization", `Bearer ${token}`), 401);
    service.secretManager.setReachable(true);
    expect((await call("delete", `/api/tokens/${id}`, "developer")).status).toBe(200);
    expect(await service.secretManager.owners(() => false)).toEqual([]);
  });

  test.each(["0".repeat(40), "x", "../environments", "%2e%2e", "A".repeat(40), "0".repeat(253)])(
    "is not there as %s",
    async (id) => {
      expectProblem(await call("delete", `/api/tokens/${encodeURIComponent(id)}`, "developer"), 404, "Token not found");
    },
  );
});

describe("the value of a token", () => {
  test.each(["/api", "/api/v2"])("is shown to its owner below %s, and kept by nobody on the way", async (prefix) => {
    const { id, token } = await made();
    const reply = await call("get", `${prefix}/tokens/${id}/value`, "developer");
    expectPromised(reply, "get", `${prefix}/tokens/{id}/value`);
    expect(reply.body.data).toEqual({ id, value: token });
    expect(reply.headers["cache-control"]).toBe("no-store");
  });

  test("is shown to no other caller, admins included", async () => {
    const { id, token } = await made();
    for (const person of ["colleague", "stranger", "maintainer", "admin"] as const) {
      const reply = await call("get", `/api/tokens/${id}/value`, person);
      expectProblem(reply, 404, "Token not found");
      expect(reply.text).not.toContain(token);
    }
  });

  test("is shown to no token, not even to itself", async () => {
    const { id, token } = await made();
    const reply = await service.http.get(`/api/tokens/${id}/value`).set("authorization", `Bearer ${token}`);
    expectProblem(reply, 403, /ID token/);
  });

  test("is gone with the revocation", async () => {
    const { id } = await made();
    await call("delete", `/api/tokens/${id}`, "developer");
    expectProblem(await call("get", `/api/tokens/${id}/value`, "developer"), 404, "Token not found");
    expect(await service.secretManager.owners(() => false)).toEqual([]);
  });

  test("is never kept, and never shown, where the settings say so", async () => {
    await restart({ api: { tokens: { revealable: false } } });
    const { id } = await made();
    const reply = await call("get", `/api/tokens/${id}/value`, "developer");
    expectProblem(reply, 403, "Values of API tokens are not kept here");
    expectPromised(reply, "get", "/api/tokens/{id}/value");
    expect(await service.secretManager.owners(() => false)).toEqual([]);
    expect((await call("delete", `/api/tokens/${id}`, "developer")).status).toBe(200);
  });

  test("that was not kept when the token was made is not there", async () => {
    const { id } = await service.makeToken("developer", { keepsValue: false });
    const token = service.apiTokens.known(id);
    await service.secretManager.remove({ name: "", uid: token?.metadata.uid ?? "" }, []);
    expectProblem(await call("get", `/api/tokens/${id}/value`, "developer"), 404, /not kept/);
  });

  test("can't be had while the secret manager is away", async () => {
    const { id } = await made();
    service.secretManager.setReachable(false);
    expectProblem(await call("get", `/api/tokens/${id}/value`, "developer"), 503, /secret manager/);
  });

  test("is told of in the log by its id", async () => {
    const { id, token } = await made();
    await call("get", `/api/tokens/${id}/value`, "developer");
    const told = JSON.stringify(service.log) + JSON.stringify(service.audit);
    expect(told).toContain(id);
    expect(told).not.toContain(token);
  });
});
