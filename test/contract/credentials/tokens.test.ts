import { describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { NOW } from "../../support/http/api-service.ts";
import { requested, tokenCalls } from "./token-calls.ts";

const api = tokenCalls();
const { call, make, made, list } = api;

describe("the list of tokens", () => {
  test("shows one's own, the newest first, page by page, without values", async () => {
    for (const name of ["first", "second", "third"]) {
      await make("developer", { ...requested, name });
      api.service.clock.advance(1_000);
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
    const authorization = await api.service.bearer("stranger", { email: "dev@example.test" });
    expect((await api.service.http.get("/api/tokens").set({ authorization })).body.data.total).toBe(0);
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
    expect((await api.service.http.get("/api/environments").set({ authorization })).status).toBe(200);
    const reply = await call("delete", `/api/tokens/${id}`, "developer");
    expectPromised(reply, "delete", "/api/tokens/{id}");
    expect(reply.body.data).toMatchObject({ id, status: "revoked", revoked_at: NOW });
    expectProblem(
      await api.service.http.get("/api/environments").set({ authorization }),
      401,
      "The API token was revoked",
    );
    api.service.clock.advance(5_000);
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
    const reply = await api.service.http.delete(`/api/tokens/${id}`).set("authorization", `Bearer ${token}`);
    expectProblem(reply, 403, /ID token/);
    expect((await list("developer")).items[0].status).toBe("active");
  });

  test("is of no more use while the secret manager is away; asking again removes its value, too", async () => {
    const { id, token } = await made();
    api.service.secretManager.setReachable(false);
    expectProblem(await call("delete", `/api/tokens/${id}`, "developer"), 503, /secret manager/);
    expectProblem(await api.service.http.get("/api/auth/user").set("authorization", `Bearer ${token}`), 401);
    api.service.secretManager.setReachable(true);
    expect((await call("delete", `/api/tokens/${id}`, "developer")).status).toBe(200);
    expect(await api.service.secretManager.owners(() => false)).toEqual([]);
  });

  test.each(["0".repeat(40), "x", "../environments", "%2e%2e", "A".repeat(40), "0".repeat(253)])(
    "is not there as %s",
    async (id) => {
      expectProblem(await call("delete", `/api/tokens/${encodeURIComponent(id)}`, "developer"), 404, "Token not found");
    },
  );
});
