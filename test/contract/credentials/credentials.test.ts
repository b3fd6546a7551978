import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Permission } from "../../../api/auth/access.ts";
import { type Contract, type Version, versionedPath } from "../../../api/route.ts";
import { expectProblem, expectPromised, operations } from "../../support/http/api-promises.ts";
import { type ApiService, PEOPLE, type Person, startApiService } from "../../support/http/api-service.ts";
import { refusedCredentials } from "../../support/http/refused-credentials.ts";
import { FIXTURES, fixtureOf, MADE, type RouteCall } from "../../support/http/route-calls.ts";
import { absentCall, guarded, routes, send as sendTo, walk, worldOf } from "../../support/http/route-walk.ts";

let service: ApiService;
let foreign: ApiService;
beforeAll(async () => {
  [service, foreign] = await Promise.all([startApiService(), startApiService()]);
});
afterAll(() => Promise.all([service.stop(), foreign.stop()]));

const FROM_VIEWER = ["viewer", "developer", "colleague", "maintainer", "admin"] as const;
const FROM_DEVELOPER = ["developer", "colleague", "maintainer", "admin"] as const;
const FROM_MAINTAINER = ["maintainer", "admin"] as const;

/** Decided permissions, repeated so that no change of the code goes unnoticed. */
const MAY: Readonly<Record<Permission, readonly Person[]>> = {
  "environments:read": FROM_VIEWER,
  "configs:read": FROM_VIEWER,
  "repos:read": FROM_VIEWER,
  "observability:read": FROM_VIEWER,
  "insights:read": FROM_VIEWER,
  "environments:create": FROM_DEVELOPER,
  "environments:update": FROM_DEVELOPER,
  "environments:delete": FROM_DEVELOPER,
  "tokens:manage": FROM_DEVELOPER,
  "environments:all": FROM_MAINTAINER,
  "configs:write": FROM_MAINTAINER,
  "repos:reload": FROM_MAINTAINER,
  "webhooks:manage": FROM_MAINTAINER,
  "tokens:all": ["admin"],
};
const everybody = (Object.keys(PEOPLE) as Person[]).filter((person) => person !== "stranger");

function whoMay({ access }: Contract): readonly Person[] {
  return typeof access === "string" ? everybody : MAY[access.permission];
}

const send = (contract: Contract, version: Version, call: RouteCall, authorization?: string) =>
  sendTo({ service, contract, version }, call, authorization);
const world = () => [...worldOf(service)];

describe("a route that is not public", () => {
  test.each(guarded)("$name is refused without a credential", async ({ contract, version }) => {
    const call = await fixtureOf(contract.operationId).call(service, "developer");
    const before = world();
    const reply = await send(contract, version, call);
    expectProblem(reply, 401, "Authentication required");
    expectPromised(reply, contract.method, versionedPath(contract, version));
    expect(reply.headers["www-authenticate"]).toBe("Bearer");
    expect(world()).toEqual(before);
  });

  test.each(guarded)("$name is refused with whatever is broken, expired or foreign", async ({ contract, version }) => {
    const call = await fixtureOf(contract.operationId).call(service, "developer");
    const before = world();
    for (const [kind, authorization] of Object.entries(await refusedCredentials(service, foreign))) {
      const reply = await send(contract, version, call, authorization);
      expect({ kind, status: reply.status }).toEqual({ kind, status: 401 });
      expectProblem(reply, 401, "Invalid or expired credentials");
    }
    expect(world()).toEqual(before);
  });

  test.each(guarded)("$name is refused to a role that lacks it, existing or not", async ({ contract, version }) => {
    for (const person of everybody.filter((one) => !whoMay(contract).includes(one))) {
      const call = await fixtureOf(contract.operationId).call(service, "developer");
      const before = world();
      for (const requested of [call, absentCall(contract, call)]) {
        const reply = await send(contract, version, requested, await service.bearer(person));
        expect({ person, status: reply.status }).toEqual({ person, status: 403 });
        expectProblem(reply, 403);
        expectPromised(reply, contract.method, versionedPath(contract, version));
      }
      expect(world()).toEqual(before);
    }
  });

  // Operations for maintainers alone have no stranger.
  const others = guarded.filter(({ contract }) => whoMay(contract).includes("developer"));
  test.each(others)("$name shows nothing of another's, and leaves it alone", async ({ contract, version }) => {
    const { call: prepare, strangerStatus } = fixtureOf(contract.operationId);
    const call = await prepare(service, "developer");
    const before = world();
    const reply = await send(contract, version, call, await service.bearer("stranger"));
    const shown = reply.text.match(MADE) ?? [];
    expect(shown.filter((name) => !JSON.stringify(call.body ?? {}).includes(name))).toEqual([]);
    expectPromised(reply, contract.method, versionedPath(contract, version));
    expect(reply.status).toBe(strangerStatus ?? contract.status ?? 200);
    expect(world()).toEqual(expect.arrayContaining(before));
  });

  const owned = others.filter(({ contract }) => FIXTURES[contract.operationId]?.absent !== undefined);
  test.each(owned)("$name answers of another's exactly as of none", async ({ contract, version }) => {
    const { call: prepare, absent } = fixtureOf(contract.operationId);
    const call = await prepare(service, "developer");
    const authorization = await service.bearer("stranger");
    const none = await send(contract, version, absentCall(contract, call), authorization);
    expectProblem(none, 404, undefined, absent?.code);
    expect((await send(contract, version, call, authorization)).body).toEqual(none.body);
    const known = await send(contract, version, absentCall(contract, call), await service.bearer("developer"));
    expect(known.body).toEqual(none.body);
  });

  test.each(walk.filter(({ contract }) => contract.path.includes("{environment_id}")))(
    "$name knows another's environment by its id no more than by its name",
    async ({ contract, version }) => {
      const call = await fixtureOf(contract.operationId).call(service, "developer");
      const environment = await service.environments.find(call.params?.environment_id ?? "");
      const byId = { ...call, params: { ...call.params, environment_id: environment?.metadata.uid ?? "" } };
      const reply = await send(contract, version, byId, await service.bearer("stranger"));
      expectProblem(reply, 404, "Environment not found", "ENV_NOT_FOUND");
      expect(await service.environments.find(environment?.metadata.name ?? "")).toEqual(environment);
      const own = await send(contract, version, byId, await service.bearer("developer"));
      expect(own.status).toBe(contract.status ?? 200);
    },
  );
});

test.each(walk)("$name serves those who may, as it is documented", async ({ contract, version }) => {
  for (const person of whoMay(contract)) {
    const call = await fixtureOf(contract.operationId).call(service, person);
    const reply = await send(contract, version, call, await service.bearer(person));
    expect({ person, status: reply.status }).toEqual({ person, status: contract.status ?? 200 });
    expectPromised(reply, contract.method, versionedPath(contract, version));
  }
});

test.each(walk.filter(({ contract }) => contract.access === "public"))(
  "$name is open to everybody, whatever they bring",
  async ({ contract, version }) => {
    for (const authorization of [undefined, "Bearer nonsense", await service.bearer("outsider")]) {
      const call = await fixtureOf(contract.operationId).call(service, "outsider");
      const reply = await send(contract, version, call, authorization);
      expect(reply.status).toBe(contract.status ?? 200);
      expectPromised(reply, contract.method, versionedPath(contract, version));
    }
  },
);

test("an owner is known by issuer and subject, never by the e-mail", async () => {
  const { params } = await fixtureOf("getEnvironment").call(service, "developer");
  const path = `/api/environments/${params?.environment_id}`;
  const elsewhere = { groups: ["developers"] };
  const moved = await service.bearer("developer", { ...elsewhere, email: "new@example.test" });
  const pretender = await service.bearer("stranger", { ...elsewhere, email: "dev@example.test" });
  expect((await service.http.get(path).set({ authorization: moved })).status).toBe(200);
  expectProblem(await service.http.get(path).set({ authorization: pretender }), 404, undefined, "ENV_NOT_FOUND");
});

describe("where a credential may stand", () => {
  test("nowhere but in one Authorization header", async () => {
    const token = await service.issuer.sign(PEOPLE.developer);
    const requested = service.http.get(`/api/environments?access_token=${token}`).set("cookie", `token=${token}`);
    expectProblem(await requested, 401, "Authentication required");
    const path = "/api/environments";
    const twice = await service.http
      .get(path)
      .set("authorization", [`Bearer ${token}`, `Bearer ${token}`] as unknown as string);
    expectProblem(twice, 401);
  });

  test("never in the log, accepted or not", async () => {
    const refused = Object.values(await refusedCredentials(service, foreign));
    const accepted = await service.bearer("developer");
    for (const authorization of [...refused, accepted])
      await service.http.get("/api/environments").set({ authorization });
    expect(service.log.filter(({ message }) => message === "a credential was refused").length).toBeGreaterThanOrEqual(
      refused.length,
    );
    expect(JSON.stringify(service.log)).not.toMatch(/eyJ[A-Za-z0-9_-]{10}/);
  });
});

describe("the walk", () => {
  test("misses no route", () => {
    expect(routes.map(({ operationId }) => operationId).filter((id) => !(id in FIXTURES))).toEqual([]);
    expect(Object.keys(FIXTURES).filter((id) => !routes.some(({ operationId }) => operationId === id))).toEqual([]);
  });

  test("knows the answer for an absent id of every route with an id in its path", () => {
    const silent = routes.filter(
      ({ path, operationId }) => /_id\}|\{id\}/.test(path) && !fixtureOf(operationId).absent,
    );
    expect(silent.map(({ operationId }) => operationId)).toEqual([]);
  });

  test("meets every operation of the document, in all its versions", () => {
    const served = walk.map(({ contract, version }) => [contract.method, versionedPath(contract, version)]);
    expect([...operations()].sort()).toEqual(served.sort());
  });
});
