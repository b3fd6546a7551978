import { describe, expect, test } from "@jest/globals";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import type { ServiceOptions } from "../../support/http/api-service.ts";
import { tokenCalls } from "./token-calls.ts";

const api = tokenCalls();
const { start, call, made } = api;

const restart = async (options: ServiceOptions) => {
  await api.service.stop();
  await start(options);
};

describe("the value of a token", () => {
  test.each(["/api", "/api/v2"])("is shown to its owner below %s, and kept by no part on the way", async (prefix) => {
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
    const reply = await api.service.http.get(`/api/tokens/${id}/value`).set("authorization", `Bearer ${token}`);
    expectProblem(reply, 403, /ID token/);
  });

  test("is gone with the revocation", async () => {
    const { id } = await made();
    await call("delete", `/api/tokens/${id}`, "developer");
    expectProblem(await call("get", `/api/tokens/${id}/value`, "developer"), 404, "Token not found");
    expect(await api.service.secretManager.owners(() => false)).toEqual([]);
  });

  test("is never kept, and never shown, where the settings say so", async () => {
    await restart({ api: { tokens: { revealable: false } } });
    const { id } = await made();
    const reply = await call("get", `/api/tokens/${id}/value`, "developer");
    expectProblem(reply, 403, "Values of API tokens are not kept here");
    expectPromised(reply, "get", "/api/tokens/{id}/value");
    expect(await api.service.secretManager.owners(() => false)).toEqual([]);
    expect((await call("delete", `/api/tokens/${id}`, "developer")).status).toBe(200);
  });

  test("that was not kept when the token was made is not there", async () => {
    const { id } = await api.service.makeToken("developer", { keepsValue: false });
    const token = api.service.apiTokens.known(id);
    await api.service.secretManager.remove({ name: "", uid: token?.metadata.uid ?? "" }, []);
    expectProblem(await call("get", `/api/tokens/${id}/value`, "developer"), 404, /not kept/);
  });

  test("can't be had while the secret manager is away", async () => {
    const { id } = await made();
    api.service.secretManager.setReachable(false);
    expectProblem(await call("get", `/api/tokens/${id}/value`, "developer"), 503, /secret manager/);
  });

  test("is named in the log by its id", async () => {
    const { id, token } = await made();
    await call("get", `/api/tokens/${id}/value`, "developer");
    const reported = JSON.stringify(api.service.log) + JSON.stringify(api.service.audit);
    expect(reported).toContain(id);
    expect(reported).not.toContain(token);
  });
});
