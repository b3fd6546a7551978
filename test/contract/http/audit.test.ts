import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { versionedPath, versionsOf } from "../../../api/route.ts";
import { listRoutes } from "../../../api/routes.ts";
import { tokenOf } from "../../../crds/api-token.ts";
import { EXTENSION_NOTE_ANNOTATION } from "../../../crds/group.ts";
import type { AuditRecord } from "../../../operator/ports/audit-trail.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";
import { fixtureOf } from "../../support/http/route-calls.ts";

let service: ApiService;
beforeEach(async () => {
  service = await startApiService({ limits: { unauthenticatedPerMinute: 2 } });
});
afterEach(() => service.stop());

const wanted = { environment_name: "noted", backend_repo: "shop-api", backend_branch: "main" };
const as = async (person: Person) => ({ authorization: await service.bearer(person) });
const subject = (sub: string) => `${service.issuer.issuer}#${sub}`;
const create = async (person: Person = "developer") => {
  const reply = await service.http
    .post("/api/environments")
    .set(await as(person))
    .send(wanted);
  return reply.body.environment?.id as string;
};
/** What was recorded, and that there was nothing else. */
const records = (): readonly AuditRecord[] => service.audit.records;

describe("a change leaves exactly one record", () => {
  test("with the caller, the action, the objects, the address and the outcome", async () => {
    const headers = { ...(await as("developer")), "x-request-id": "request-1" };
    const reply = await service.http.post("/api/environments").set(headers).send(wanted);
    expect(records()).toEqual([
      {
        auditId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        requestId: "request-1",
        event: "change",
        action: "createEnvironment",
        actor: { subject: subject("dev"), method: "id_token" },
        from: "127.0.0.1",
        concerns: "noted",
        objects: [{ name: "noted", uid: reply.body.environment.id }],
        outcome: "accepted",
        status: 200,
      },
    ]);
  });

  test("when it is accepted, in either version, each with an id of its own", async () => {
    const uid = await create();
    const headers = { ...(await as("colleague")), "x-request-id": "the-same" };
    await service.http.put(`/api/environments/${uid}`).set(headers).send({ ttl_hours: 48 });
    await service.http.patch("/api/v2/environments/noted").set(headers).send({ suspended: true });
    await service.http.delete("/api/v2/environments/noted").set(headers);
    const seen = records().map(({ action, outcome, concerns, objects }) => [action, outcome, concerns, objects]);
    const object = [{ name: "noted", uid }];
    expect(seen).toEqual([
      ["createEnvironment", "accepted", "noted", object],
      ["extendEnvironment", "accepted", uid, object],
      ["switchEnvironment", "accepted", "noted", object],
      ["deleteEnvironment", "accepted", "noted", object],
    ]);
    expect(new Set(records().map(({ auditId }) => auditId)).size).toBe(4);
  });

  test("with the reason that the caller gives, which the next change does not keep", async () => {
    await create();
    const extend = async (body: object) =>
      service.http
        .put("/api/environments/noted")
        .set(await as("developer"))
        .send(body);
    await extend({ ttl_hours: 48, description: "the demo is late" });
    expect((await service.environments.find("noted"))?.metadata.annotations).toMatchObject({
      [EXTENSION_NOTE_ANNOTATION]: "the demo is late",
    });
    await extend({ ttl_hours: 72, description: "" });
    const [, first, second] = records();
    expect(first).toMatchObject({ action: "extendEnvironment", note: "the demo is late" });
    expect(second).not.toHaveProperty("note");
    expect((await service.environments.find("noted"))?.metadata.annotations).not.toHaveProperty([
      EXTENSION_NOTE_ANNOTATION,
    ]);
  });

  test("when it is refused: by role, by visibility, by input, by state", async () => {
    const uid = await create();
    await service.http.delete(`/api/environments/${uid}`).set(await as("viewer"));
    await service.http.delete("/api/environments/noted").set(await as("stranger"));
    await service.http
      .put("/api/environments/noted")
      .set(await as("developer"))
      .send({ ttl_hours: 169 });
    await create();
    const seen = records()
      .slice(1)
      .map(({ event, action, concerns, outcome, status, errorCode }) => ({
        ...{ event, action, concerns, outcome, status, errorCode },
      }));
    const refused = { event: "change", outcome: "refused" } as const;
    expect(seen).toEqual([
      { ...refused, action: "deleteEnvironment", concerns: uid, status: 403, errorCode: undefined },
      { ...refused, action: "deleteEnvironment", concerns: "noted", status: 404, errorCode: "ENV_NOT_FOUND" },
      { ...refused, action: "extendEnvironment", concerns: "noted", status: 400, errorCode: "ENV_TTL_EXCEEDED" },
      { ...refused, action: "createEnvironment", concerns: "noted", status: 400, errorCode: "ENV_NAME_EXISTS" },
    ]);
  });

  test("when the caller is not authenticated", async () => {
    await service.http.delete("/api/environments/noted");
    expect(records()).toMatchObject([
      { event: "change", action: "deleteEnvironment", actor: { method: "none" }, outcome: "refused", status: 401 },
    ]);
  });

  test("when it fails", async () => {
    const authorization = await as("developer");
    service.environments.setReachable(false);
    await service.http.post("/api/environments").set(authorization).send(wanted);
    expect(records()).toMatchObject([{ action: "createEnvironment", outcome: "failed", status: 503 }]);
  });

  test("before it is answered", async () => {
    const kept: number[] = [];
    const { add } = service.audit;
    service.audit.add = async (record) => {
      await add(record);
      kept.push(records().length);
    };
    await create();
    expect(kept).toEqual([1]);
  });
});

describe("a credential or a right that is not enough", () => {
  test("is recorded, also on public routes", async () => {
    await service.http.get("/api/environments").set("authorization", "Bearer nonsense");
    await service.http.get("/api/status").set("authorization", "Bearer svc_guess");
    expect(records()).toMatchObject([
      { event: "credential", action: "listEnvironments", actor: { method: "none" }, outcome: "refused", status: 401 },
      { event: "credential", action: "getStatus", actor: { method: "none" }, outcome: "refused", status: 200 },
    ]);
    expect(JSON.stringify(records())).not.toMatch(/nonsense|guess/);
  });

  test("is recorded for reads: of an unauthenticated caller, and of one without a role", async () => {
    await service.http.get("/api/environments");
    await service.http.get("/api/environments").set(await as("nobody"));
    expect(records()).toMatchObject([
      { event: "denial", actor: { method: "none" }, outcome: "refused", status: 401 },
      { event: "denial", actor: { subject: subject("nob") }, outcome: "refused", status: 403 },
    ]);
  });

  test("is recorded once beyond the limit, so that a flood washes no other record away", async () => {
    const guess = () => service.http.delete("/api/environments/noted").set("authorization", "Bearer nonsense");
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
    const { id, token } = (await service.http.post("/api/tokens").set(authorization).send(body)).body.data;
    await service.http.get(`/api/tokens/${id}/value`).set(authorization);
    await service.http.delete(`/api/tokens/${id}`).set(authorization);
    const made = service.apiTokens.list().find(({ metadata }) => metadata.name === id);
    const objects = [{ name: id, uid: made?.metadata.uid }];
    const accepted = { event: "credential", outcome: "accepted", objects, actor: { subject: subject("dev") } };
    expect(records()).toMatchObject([
      { ...accepted, action: "createToken", concerns: "ci", status: 201 },
      { ...accepted, action: "getTokenValue", concerns: id, status: 200 },
      { ...accepted, action: "revokeToken", concerns: id, status: 200 },
    ]);
    expect(JSON.stringify(records())).not.toContain(token.slice("svc_".length));
  });

  test("when it is used for a change: the record names the token beside its owner", async () => {
    const { id, value } = await service.makeToken("developer", { scopes: ["ENV_CREATE"] });
    await service.http.post("/api/environments").set("authorization", `Bearer ${value}`).send(wanted);
    expect(records()).toMatchObject([
      { action: "createEnvironment", actor: { subject: subject("dev"), method: "api_token", tokenId: id } },
    ]);
    expect(JSON.stringify(records())).not.toContain(value.slice("svc_".length));
  });

  test("when a caller asks for the token of another", async () => {
    const { id } = await service.makeToken("colleague");
    await service.http.get(`/api/tokens/${id}/value`).set(await as("developer"));
    expect(records()).toMatchObject([{ event: "credential", concerns: id, outcome: "refused", status: 404 }]);
  });
});

describe("each operation that changes something, looks into something or is about credentials", () => {
  const operations = listRoutes().filter(({ contract }) => contract.auditTarget !== undefined);
  const walk = operations.flatMap(({ contract }) => versionsOf(contract).map((version) => ({ contract, version })));
  const title = ({ contract, version }: (typeof walk)[number]) => `${contract.operationId} in ${version}`;

  test.each(walk.map((one) => [title(one), one] as const))("%s leaves one record", async (_title, one) => {
    const { contract, version } = one;
    const call = await fixtureOf(contract.operationId).call(service, "admin");
    const before = records().length;
    const path = versionedPath(contract, version).replaceAll(/\{(\w+)\}/g, (_all, name) => call.params?.[name] ?? "x");
    const request = service.http[contract.method](path)
      .query(call.query ?? {})
      .set(call.headers ?? {});
    const reply = await request.set(await as("admin")).send(call.body);
    const { operationId } = contract;
    expect(records().slice(before)).toMatchObject([
      { action: operationId, outcome: "accepted", status: reply.status, concerns: expect.any(String) },
    ]);
  });
});

test("a look into logs is recorded as a read", async () => {
  const uid = await create();
  await service.http.get("/api/environments/noted/logs/backend").set(await as("colleague"));
  const object = { name: "noted", uid };
  expect(records().slice(1)).toMatchObject([
    { event: "read", action: "getLogs", concerns: "noted", objects: [object], outcome: "accepted", status: 200 },
  ]);
});

test("a wish for a new password is recorded, and not for whom", async () => {
  await service.http.post("/api/auth/password-reset").send({ email: "dev@example.test" });
  expect(records()).toMatchObject([
    { event: "credential", action: "requestPasswordReset", actor: { method: "none" }, outcome: "accepted" },
  ]);
  expect(JSON.stringify(records())).not.toContain("dev@");
});

test("public reads, pages and unknown paths leave no record", async () => {
  await create();
  const authorization = await as("developer");
  for (const path of ["/api/environments", "/api/environments/noted", "/api/health", "/docs", "/api/nowhere", "/"]) {
    await service.http.get(path).set(authorization);
  }
  expect(records()).toHaveLength(1);
});

test("no record holds a credential or a value that was sent", async () => {
  const secret = "correct-horse-battery";
  const overrides = { helm_values: { backend: { env: { DATABASE_PASSWORD: secret } } } };
  const headers = { ...(await as("developer")), cookie: `session=${secret}` };
  await service.http
    .post(`/api/environments?token=${secret}`)
    .set(headers)
    .send({ ...wanted, config_overrides: overrides });
  await service.http
    .post("/api/environments")
    .set(headers)
    .send({ ...wanted, [secret]: secret, ttl: secret });
  expect(records().length).toBeGreaterThanOrEqual(2);
  const text = JSON.stringify(records());
  expect(text).not.toContain(secret);
  expect(text).not.toContain(headers.authorization.split(".")[1]);
});

describe("a credential that stands where a name belongs", () => {
  const value = tokenOf(randomBytes(32));
  const credentials = async () => [value, value.slice("svc_".length), (await as("developer")).authorization.slice(7)];
  /** Nothing that somebody could go on with: a piece of ten characters is none that chance repeats. */
  const expectUnwritten = (credential: string) => {
    const written = JSON.stringify([records(), service.log]);
    for (let at = 4; at + 10 <= credential.length; at += 10) {
      expect(written).not.toContain(credential.slice(at, at + 10));
    }
  };
  const withPath = listRoutes().filter(({ contract }) => contract.path.includes("{"));

  beforeEach(async () => {
    await service.stop();
    service = await startApiService();
  });

  test.each(withPath.map(({ contract }) => [contract.operationId, contract] as const))(
    "in the path or query of %s, is neither recorded nor logged",
    async (_name, contract) => {
      for (const credential of await credentials()) {
        const path = versionedPath(contract, versionsOf(contract)[0] ?? "v1").replaceAll(/\{\w+\}/g, credential);
        for (const headers of [{}, await as("viewer"), await as("admin")]) {
          await service.http[contract.method](`${path}?token=${credential}`).set(headers);
          await service.http[contract.method](path).set(headers);
        }
        expectUnwritten(credential);
      }
    },
  );

  test("in a name is not, either", async () => {
    const authorization = await as("maintainer");
    for (const name of await credentials()) {
      await service.http
        .post("/api/tokens")
        .set(authorization)
        .send({ name, scopes: ["ENV_READ"] });
      await service.http.post("/api/config-sets").set(authorization).send({ name });
      await service.http
        .post("/api/environments")
        .set(authorization)
        .send({ ...wanted, environment_name: name });
      expectUnwritten(name);
    }
  });
});

describe("while records can't be kept", () => {
  beforeEach(async () => {
    await create();
    service.audit.setWritable(false);
  });

  test("no caller changes things of others, and nothing is changed", async () => {
    for (const person of ["maintainer", "admin"] as const) {
      const reply = await service.http.delete("/api/environments/noted").set(await as(person));
      expectProblem(reply, 503, "The audit log can't be written now");
      expectPromised(reply, "delete", "/api/environments/{environment_id}");
      expect(reply.headers["retry-after"]).toBe("10");
    }
    expect(service.environments.list()).toHaveLength(1);
    expect(service.environments.list()[0]?.metadata.deletionTimestamp).toBeUndefined();
  });

  test("no caller creates, sees or revokes a credential", async () => {
    const { id } = await service.makeToken("developer");
    const authorization = await as("developer");
    const { http } = service;
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
    expect((await service.http.get("/api/environments").set(await as("admin"))).status).toBe(200);
    const put = service.http.put("/api/environments/noted").set(await as("developer"));
    expect((await put.send({ ttl_hours: 30 })).status).toBe(200);
    expect(records()).toHaveLength(1);
    service.audit.setWritable(true);
    const removal = await service.http.delete("/api/environments/noted").set(await as("maintainer"));
    expect(removal.status).toBe(200);
    expect(records().map(({ action }) => action)).toEqual([
      ...["createEnvironment", "extendEnvironment", "deleteEnvironment"],
    ]);
  });
});
