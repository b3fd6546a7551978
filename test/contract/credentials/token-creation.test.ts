import { describe, expect, test } from "@jest/globals";
import { tokenTraits } from "../../../crds/api-token.ts";
import { DAY_MS } from "../../../crds/durations.ts";
import { ClusterUnavailable } from "../../../crds/errors.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { NOW, type Person } from "../../support/http/api-service.ts";
import { requested, tokenCalls } from "./token-calls.ts";

const api = tokenCalls();
const { call, make, made, list } = api;

describe.each(["/api", "/api/v2"])("making a token below %s", (prefix) => {
  test("answers the record and, this once, the token", async () => {
    const reply = await call("post", `${prefix}/tokens`, "developer", requested);
    expectPromised(reply, "post", `${prefix}/tokens`);
    expect(reply.status).toBe(201);
    const { token } = reply.body.data;
    expect(token).toMatch(/^svc_[A-Za-z0-9_-]{43}$/);
    expect(reply.body).toEqual({
      status: "success",
      data: {
        id: tokenTraits(token).id,
        ...requested,
        token,
        token_prefix: token.slice(0, 10),
        status: "active",
        created_at: "2026-06-01T12:00:00.000Z",
        expires_at: null,
        last_used_at: null,
        revoked_at: null,
        owner: { email: "dev@example.test", name: "Dev" },
      },
      timestamp: NOW,
    });
    expect(reply.headers["cache-control"]).toBe("no-store");
  });
});

describe("a token that is made", () => {
  test("ends when it was asked to", async () => {
    const token = await made("developer", { ...requested, expires_in_days: 90 });
    expect(token.expires_at).toBe(new Date(Date.parse(NOW) + 90 * DAY_MS).toISOString());
    const authorization = `Bearer ${token.token}`;
    api.service.clock.advance(90 * DAY_MS - 1);
    // The owner was active meanwhile.
    await list("developer");
    expect((await api.service.http.get("/api/environments").set({ authorization })).status).toBe(200);
    api.service.clock.advance(1);
    const reply = await api.service.http.get("/api/environments").set({ authorization });
    expectProblem(reply, 401, "The API token has expired");
    expectPromised(reply, "get", "/api/environments");
    expect((await list("developer")).items[0].status).toBe("expired");
  });

  test("waits until all tokens are known, or their bound would not hold", async () => {
    const { apiTokens } = api.service;
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
    await api.service.http.get("/api/environments").set("authorization", `Bearer ${token}`);
    const reported = JSON.stringify([api.service.apiTokens.list(), api.service.log, api.service.audit]);
    for (const form of [token, token.slice("svc_".length), Buffer.from(token).toString("base64")]) {
      expect(reported).not.toContain(form);
    }
  });

  test("is none when its value can't be kept", async () => {
    api.service.secretManager.setReachable(false);
    const reply = await make();
    expectProblem(reply, 503, /secret manager/);
    expectPromised(reply, "post", "/api/tokens");
    expect(api.service.apiTokens.list()).toEqual([]);
  });

  test("is none when the API server is away", async () => {
    api.service.apiTokens.setReachable(false);
    expectProblem(await make(), 503, /Kubernetes API/);
    expect(api.service.apiTokens.list()).toEqual([]);
  });

  test("is one of 200 at most, the revoked ones counted", async () => {
    for (let count = 0; count < 200; count += 1) await api.service.makeToken("developer");
    const reply = await make();
    expectProblem(reply, 409, /at most 200/);
    expectPromised(reply, "post", "/api/tokens");
    expect((await make("colleague")).status).toBe(201);
  });
});

describe("no token is made", () => {
  test.each<[string, object]>([
    ["an unknown scope", { scopes: ["*"] }],
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
    const reply = await make("developer", { ...requested, ...body });
    expectProblem(reply, 400, undefined, "ENV_CONFIG_INVALID");
    expectPromised(reply, "post", "/api/tokens");
    expect(api.service.apiTokens.list()).toEqual([]);
  });

  test.each<[Person, string[]]>([
    ["developer", ["CONFIG_WRITE"]],
    ["developer", ["ENV_READ", "CONFIG_WRITE"]],
  ])("by a %s who lacks what %j asks for", async (person, scopes) => {
    const reply = await make(person, { ...requested, scopes });
    expectProblem(reply, 403, /CONFIG_WRITE/);
    expect(api.service.apiTokens.list()).toEqual([]);
  });

  test.each<[string, string[]]>([
    ["the same rights", ["ENV_CREATE", "ENV_READ"]],
    ["fewer rights", ["ENV_READ"]],
  ])("by a token, for %s", async (_what, scopes) => {
    const { token } = await made();
    const authorization = `Bearer ${token}`;
    const reply = await api.service.http.post("/api/tokens").set({ authorization }).send({ name: "x", scopes });
    expectProblem(reply, 403, "This needs an ID token: an API token is not enough");
    expect(api.service.apiTokens.list()).toHaveLength(1);
  });
});
