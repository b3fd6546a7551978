import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Permission } from "../../../api/auth/access.ts";
import { type Contract, versionedPath } from "../../../api/route.ts";
import { SCOPES, type Scope } from "../../../crds/api-token.ts";
import { expectProblem, expectPromised } from "../../support/http/api-promises.ts";
import { type ApiService, type Person, startApiService } from "../../support/http/api-service.ts";
import { fixtureOf } from "../../support/http/route-calls.ts";
import { guarded, send, worldOf } from "../../support/http/route-walk.ts";

let service: ApiService;
beforeAll(async () => {
  service = await startApiService();
});
afterAll(() => service.stop());

const MANAGE: readonly Scope[] = ["ENV_CREATE", "environments:create"];
const READ: readonly Scope[] = [...MANAGE, "ENV_READ", "environments:read"];

/** Decided permissions of scopes, repeated so that no change of the code goes unnoticed. */
const LET_THROUGH: Readonly<Record<Permission, readonly Scope[]>> = {
  "environments:read": READ,
  "environments:create": MANAGE,
  "environments:update": MANAGE,
  "environments:delete": MANAGE,
  "environments:all": READ,
  "configs:read": ["CONFIG_READ"],
  "repos:read": ["CONFIG_READ"],
  "configs:write": ["CONFIG_WRITE"],
  "repos:reload": [],
  "webhooks:manage": [],
  "observability:read": [],
  "insights:read": [],
  "tokens:manage": [],
  "tokens:all": [],
};

function letsThrough({ access }: Contract, scope: Scope): boolean {
  if (typeof access === "string") return true;
  return access.proof === undefined && LET_THROUGH[access.permission].includes(scope);
}

const OWNER: Person = "maintainer";
const bearer = async (scope: Scope) => `Bearer ${(await service.makeToken(OWNER, { scopes: [scope] })).value}`;
/** Ignores tokens of the walk, and the records of their use. */
const world = () => worldOf(service).filter((object) => !object.includes('"kind":"ApiToken"'));

describe.each(SCOPES)("a token with %s", (scope) => {
  const open = guarded.filter(({ contract }) => letsThrough(contract, scope));
  test.each(open)("is served by $name, as it is documented", async ({ contract, version }) => {
    const call = await fixtureOf(contract.operationId).call(service, OWNER);
    const reply = await send({ service, contract, version }, call, await bearer(scope));
    expect(reply.status).toBe(contract.status ?? 200);
    expectPromised(reply, contract.method, versionedPath(contract, version));
  });

  const closed = guarded.filter(({ contract }) => !letsThrough(contract, scope));
  test.each(closed)("is refused by $name", async ({ contract, version }) => {
    const call = await fixtureOf(contract.operationId).call(service, OWNER);
    const before = world();
    const reply = await send({ service, contract, version }, call, await bearer(scope));
    expectProblem(reply, 403);
    expectPromised(reply, contract.method, versionedPath(contract, version));
    expect(world()).toEqual(before);
  });
});

describe("a token that is good for everything", () => {
  const all = { scopes: [...SCOPES] };
  test.each(guarded)("and revoked, expired or its owner's no more is refused by $name", async (route) => {
    const call = await fixtureOf(route.contract.operationId).call(service, OWNER);
    const past = "2026-05-31T12:00:00.000Z";
    const before = world();
    for (const spec of [
      { ...all, revokedAt: past },
      { ...all, expiresAt: past },
      { ...all, assertedClaims: { groups: ["admins"], at: "2026-05-01T12:00:00.000Z" } },
      { ...all, owner: { subject: "https://elsewhere.example.test#mai", email: "", name: "" } },
    ]) {
      const { value } = await service.makeToken(OWNER, spec);
      const reply = await send({ service, ...route }, call, `Bearer ${value}`);
      expectProblem(reply, 401);
      expectPromised(reply, route.contract.method, versionedPath(route.contract, route.version));
    }
    expect(world()).toEqual(before);
  });

  test.each(guarded)("is refused by $name when its owner has no role any more", async (route) => {
    if (route.contract.access === "authenticated") return;
    const call = await fixtureOf(route.contract.operationId).call(service, OWNER);
    const { value } = await service.makeToken("outsider", all);
    expectProblem(await send({ service, ...route }, call, `Bearer ${value}`), 403);
  });
});
