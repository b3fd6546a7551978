import { randomBytes } from "node:crypto";
import { beforeEach, describe, expect, test } from "@jest/globals";
import { versionedPath, versionsOf } from "../../../api/route.ts";
import { listRoutes } from "../../../api/routes.ts";
import { tokenOf } from "../../../crds/api-token.ts";
import { startApiService } from "../../support/http/api-service.ts";
import { fixtureOf } from "../../support/http/route-calls.ts";
import { auditedCalls, requested } from "./audited-calls.ts";

const api = auditedCalls();
const { as, create, records } = api;

describe("each operation that changes something, looks into something or is about credentials", () => {
  const operations = listRoutes().filter(({ contract }) => contract.auditTarget !== undefined);
  const walk = operations.flatMap(({ contract }) => versionsOf(contract).map((version) => ({ contract, version })));
  const title = ({ contract, version }: (typeof walk)[number]) => `${contract.operationId} in ${version}`;

  test.each(walk.map((one) => [title(one), one] as const))("%s leaves one record", async (_title, one) => {
    const { contract, version } = one;
    const call = await fixtureOf(contract.operationId).call(api.service, "admin");
    const before = records().length;
    const path = versionedPath(contract, version).replaceAll(/\{(\w+)\}/g, (_all, name) => call.params?.[name] ?? "x");
    const request = api.service.http[contract.method](path)
      .query(call.query ?? {})
      .set(call.headers ?? {});
    const reply = await request.set(await as("admin")).send(call.body);
    const { operationId } = contract;
    expect(records().slice(before)).toMatchObject([
      { action: operationId, outcome: "accepted", status: reply.status, target: expect.any(String) },
    ]);
  });
});

test("a look into logs is recorded as a read", async () => {
  const uid = await create();
  await api.service.http.get("/api/environments/noted/logs/backend").set(await as("colleague"));
  const object = { name: "noted", uid };
  expect(records().slice(1)).toMatchObject([
    { event: "read", action: "getLogs", target: "noted", objects: [object], outcome: "accepted", status: 200 },
  ]);
});

test("a wish for a new password is recorded, and not for whom", async () => {
  await api.service.http.post("/api/auth/password-reset").send({ email: "dev@example.test" });
  expect(records()).toMatchObject([
    { event: "credential", action: "requestPasswordReset", actor: { method: "none" }, outcome: "accepted" },
  ]);
  expect(JSON.stringify(records())).not.toContain("dev@");
});

test("public reads, pages and unknown paths leave no record", async () => {
  await create();
  const authorization = await as("developer");
  for (const path of ["/api/environments", "/api/environments/noted", "/api/health", "/docs", "/api/nowhere", "/"]) {
    await api.service.http.get(path).set(authorization);
  }
  expect(records()).toHaveLength(1);
});

test("no record holds a credential or a value that was sent", async () => {
  const secret = "correct-horse-battery";
  const overrides = { helm_values: { backend: { env: { DATABASE_PASSWORD: secret } } } };
  const headers = { ...(await as("developer")), cookie: `session=${secret}` };
  await api.service.http
    .post(`/api/environments?token=${secret}`)
    .set(headers)
    .send({ ...requested, config_overrides: overrides });
  await api.service.http
    .post("/api/environments")
    .set(headers)
    .send({ ...requested, [secret]: secret, ttl: secret });
  expect(records().length).toBeGreaterThanOrEqual(2);
  const text = JSON.stringify(records());
  expect(text).not.toContain(secret);
  expect(text).not.toContain(headers.authorization.split(".")[1]);
});

describe("a credential that stands where a name belongs", () => {
  const value = tokenOf(randomBytes(32));
  const credentials = async () => [value, value.slice("svc_".length), (await as("developer")).authorization.slice(7)];
  /** Expects no usable part: ten characters do not repeat by chance. */
  const expectUnwritten = (credential: string) => {
    const written = JSON.stringify([records(), api.service.log]);
    for (let at = 4; at + 10 <= credential.length; at += 10) {
      expect(written).not.toContain(credential.slice(at, at + 10));
    }
  };
  const withPath = listRoutes().filter(({ contract }) => contract.path.includes("{"));

  beforeEach(async () => {
    await api.service.stop();
    api.service = await startApiService();
  });

  test.each(withPath.map(({ contract }) => [contract.operationId, contract] as const))(
    "in the path or query of %s, is neither recorded nor logged",
    async (_name, contract) => {
      for (const credential of await credentials()) {
        const path = versionedPath(contract, versionsOf(contract)[0] ?? "v1").replaceAll(/\{\w+\}/g, credential);
        for (const headers of [{}, await as("viewer"), await as("admin")]) {
          await api.service.http[contract.method](`${path}?token=${credential}`).set(headers);
          await api.service.http[contract.method](path).set(headers);
        }
        expectUnwritten(credential);
      }
    },
  );

  test("in a name is not, either", async () => {
    const authorization = await as("maintainer");
    for (const name of await credentials()) {
      await api.service.http
        .post("/api/tokens")
        .set(authorization)
        .send({ name, scopes: ["ENV_READ"] });
      await api.service.http.post("/api/config-sets").set(authorization).send({ name });
      await api.service.http
        .post("/api/environments")
        .set(authorization)
        .send({ ...requested, environment_name: name });
      expectUnwritten(name);
    }
  });
});
