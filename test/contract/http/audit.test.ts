import { beforeEach, describe, expect, test } from "@jest/globals";
import { EXTENSION_NOTE_ANNOTATION } from "../../../crds/group.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { auditedCalls, requested } from "./audited-calls.ts";

const api = auditedCalls();
const { as, create, records } = api;

const subject = (sub: string) => `${api.service.issuer.issuer}#${sub}`;

describe("a change leaves exactly one record", () => {
  test("with the caller, the action, the objects, the address and the outcome", async () => {
    const headers = { ...(await as("developer")), "x-request-id": "request-1" };
    const reply = await api.service.http.post("/api/environments").set(headers).send(requested);
    expect(records()).toEqual([
      {
        auditId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        requestId: "request-1",
        event: "change",
        action: "createEnvironment",
        actor: { subject: subject("dev"), method: "id_token" },
        from: "127.0.0.1",
        target: "noted",
        objects: [{ name: "noted", uid: reply.body.environment.id }],
        outcome: "accepted",
        status: 200,
      },
    ]);
  });

  test("when it is accepted, in either version, each with an id of its own", async () => {
    const uid = await create();
    const headers = { ...(await as("colleague")), "x-request-id": "the-same" };
    await api.service.http.put(`/api/environments/${uid}`).set(headers).send({ ttl_hours: 48 });
    await api.service.http.patch("/api/v2/environments/noted").set(headers).send({ suspended: true });
    await api.service.http.delete("/api/v2/environments/noted").set(headers);
    const seen = records().map(({ action, outcome, target, objects }) => [action, outcome, target, objects]);
    const object = [{ name: "noted", uid }];
    expect(seen).toEqual([
      ["createEnvironment", "accepted", "noted", object],
      ["extendEnvironment", "accepted", uid, object],
      ["updateEnvironment", "accepted", "noted", object],
      ["deleteEnvironment", "accepted", "noted", object],
    ]);
    expect(new Set(records().map(({ auditId }) => auditId)).size).toBe(4);
  });

  test("with the reason that the caller gives, which the next change does not keep", async () => {
    await create();
    const extend = async (body: object) =>
      api.service.http
        .put("/api/environments/noted")
        .set(await as("developer"))
        .send(body);
    await extend({ ttl_hours: 48, description: "the demo is late" });
    expect((await api.service.environments.find("noted"))?.metadata.annotations).toMatchObject({
      [EXTENSION_NOTE_ANNOTATION]: "the demo is late",
    });
    await extend({ ttl_hours: 72, description: "" });
    const [, first, second] = records();
    expect(first).toMatchObject({ action: "extendEnvironment", reason: "the demo is late" });
    expect(second).not.toHaveProperty("reason");
    expect((await api.service.environments.find("noted"))?.metadata.annotations).not.toHaveProperty([
      EXTENSION_NOTE_ANNOTATION,
    ]);
  });

  test("when it is refused: by role, by visibility, by input, by state", async () => {
    const uid = await create();
    await api.service.http.delete(`/api/environments/${uid}`).set(await as("viewer"));
    await api.service.http.delete("/api/environments/noted").set(await as("stranger"));
    await api.service.http
      .put("/api/environments/noted")
      .set(await as("developer"))
      .send({ ttl_hours: 169 });
    await create();
    const seen = records()
      .slice(1)
      .map(({ event, action, target, outcome, status, errorCode }) => ({
        event,
        action,
        target,
        outcome,
        status,
        errorCode,
      }));
    const refused = { event: "change", outcome: "refused" } as const;
    expect(seen).toEqual([
      { ...refused, action: "deleteEnvironment", target: uid, status: 403, errorCode: undefined },
      { ...refused, action: "deleteEnvironment", target: "noted", status: 404, errorCode: "ENV_NOT_FOUND" },
      { ...refused, action: "extendEnvironment", target: "noted", status: 400, errorCode: "ENV_TTL_EXCEEDED" },
      { ...refused, action: "createEnvironment", target: "noted", status: 400, errorCode: "ENV_NAME_EXISTS" },
    ]);
  });

  test("when the caller is not authenticated", async () => {
    await api.service.http.delete("/api/environments/noted");
    expect(records()).toMatchObject([
      { event: "change", action: "deleteEnvironment", actor: { method: "none" }, outcome: "refused", status: 401 },
    ]);
  });

  test("when it fails", async () => {
    const authorization = await as("developer");
    api.service.environments.setReachable(false);
    await api.service.http.post("/api/environments").set(authorization).send(requested);
    expect(records()).toMatchObject([{ action: "createEnvironment", outcome: "failed", status: 503 }]);
  });

  test("before it is answered", async () => {
    const kept: number[] = [];
    const { add } = api.service.audit;
    api.service.audit.add = async (record) => {
      await add(record);
      kept.push(records().length);
    };
    await create();
    expect(kept).toEqual([1]);
  });
});

describe("a credential or a right that is not enough", () => {
  test("is recorded, also on public routes", async () => {
    await api.service.http.get("/api/environments").set("authorization", "Bearer nonsense");
    await api.service.http.get("/api/status").set("authorization", "Bearer svc_guess");
    expect(records()).toMatchObject([
      { event: "credential", action: "listEnvironments", actor: { method: "none" }, outcome: "refused", status: 401 },
      { event: "credential", action: "getStatus", actor: { method: "none" }, outcome: "refused", status: 200 },
    ]);
    expect(JSON.stringify(records())).not.toMatch(/nonsense|guess/);
  });

  test("is recorded for reads: of an unauthenticated caller, and of one without a role", async () => {
    await api.service.http.get("/api/environments");
    await api.service.http.get("/api/environments").set(await as("outsider"));
    expect(records()).toMatchObject([
      { event: "denial", actor: { method: "none" }, outcome: "refused", status: 401 },
      { event: "denial", actor: { subject: subject("outsider") }, outcome: "refused", status: 403 },
    ]);
  });

  test("is recorded once beyond the limit, so that a flood washes no other record away", async () => {
    const guess = () => api.service.http.delete("/api/environments/noted").set("authorization", "Bearer nonsense");
    const statuses = [];
    for (let call = 0; call < 6; call++) statuses.push((await guess()).status);
    expect(statuses).toEqual([401, 401, 429, 429, 429, 429]);
    expect(records().map(({ status }) => status)).toEqual([401, 401, 429]);
  });
});

describe("an API token leaves a record, and no trace of its value,", () => {
  test("when it is made, shown and revoked: three records that name it", async () => {
    const authorization = await as("developer");
    const body = { name: "ci", scopes: ["ENV_READ"] };
    const { id, token } = (await api.service.http.post("/api/tokens").set(authorization).send(body)).body.data;
    await api.service.http.get(`/api/tokens/${id}/value`).set(authorization);
    await api.service.http.delete(`/api/tokens/${id}`).set(authorization);
    const made = api.service.apiTokens.list().find(({ metadata }) => metadata.name === id);
    const objects = [{ name: id, uid: made?.metadata.uid }];
    const accepted = { event: "credential", outcome: "accepted", objects, actor: { subject: subject("dev") } };
    expect(records()).toMatchObject([
      { ...accepted, action: "createToken", target: "ci", status: 201 },
      { ...accepted, action: "getTokenValue", target: id, status: 200 },
      { ...accepted, action: "revokeToken", target: id, status: 200 },
    ]);
    expect(JSON.stringify(records())).not.toContain(token.slice("svc_".length));
  });

  test("when it is used for a change: the record names the token beside its owner", async () => {
    const { id, value } = await api.service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    await api.service.http.post("/api/environments").set("authorization", `Bearer ${value}`).send(requested);
    expect(records()).toMatchObject([
      { action: "createEnvironment", actor: { subject: subject("dev"), method: "api_token", tokenId: id } },
    ]);
    expect(JSON.stringify(records())).not.toContain(value.slice("svc_".length));
  });

  test("when a caller asks for the token of another", async () => {
    const { id } = await api.service.makeToken("colleague");
    await api.service.http.get(`/api/tokens/${id}/value`).set(await as("developer"));
    expect(records()).toMatchObject([{ event: "credential", target: id, outcome: "refused", status: 404 }]);
  });
});

describe("while records can't be kept", () => {
  beforeEach(async () => {
    await create();
    api.service.audit.setWritable(false);
  });

  test("no caller changes things of others, and nothing is changed", async () => {
    for (const person of ["maintainer", "admin"] as const) {
      const reply = await api.service.http.delete("/api/environments/noted").set(await as(person));
      expectProblem(reply, 503, "The audit log can't be written now");
      expectPromised(reply, "delete", "/api/environments/{environment_id}");
      expect(reply.headers["retry-after"]).toBe("10");
    }
    expect(api.service.environments.list()).toHaveLength(1);
    expect(api.service.environments.list()[0]?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("no caller creates, sees or revokes a credential", async () => {
    const { id } = await api.service.makeToken("developer");
    const authorization = await as("developer");
    const { http } = api.service;
    const replies = [
      await http
        .post("/api/tokens")
        .set(authorization)
        .send({ name: "ci", scopes: ["ENV_READ"] }),
      await http.get(`/api/tokens/${id}/value`).set(authorization),
      await http.delete(`/api/tokens/${id}`).set(authorization),
    ];
    for (const reply of replies) expectProblem(reply, 503, "The audit log can't be written now");
  });

  test("reads, and changes of one's own, go on; their records are kept later", async () => {
    expect((await api.service.http.get("/api/environments").set(await as("admin"))).status).toBe(200);
    const put = api.service.http.put("/api/environments/noted").set(await as("developer"));
    expect((await put.send({ ttl_hours: 30 })).status).toBe(200);
    expect(records()).toHaveLength(1);
    api.service.audit.setWritable(true);
    const removal = await api.service.http.delete("/api/environments/noted").set(await as("maintainer"));
    expect(removal.status).toBe(200);
    expect(records().map(({ action }) => action)).toEqual([
      "createEnvironment",
      "extendEnvironment",
      "deleteEnvironment",
    ]);
  });
});
