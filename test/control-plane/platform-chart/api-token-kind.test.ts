import { randomBytes } from "node:crypto";
import { afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { type ApiTokenSpec, tokenOf } from "../../../crds/api-token.ts";
import { apiTokenFixture } from "../../support/fixtures/api-token-fixture.ts";
import { until } from "../../support/fixtures/until.ts";
import { type ApiCalls, callsAs } from "../../support/plane/api-calls.ts";
import { given, paths } from "../../support/plane/chart/environment-objects.ts";
import { controlPlane } from "../../support/plane/control-plane.ts";
import { administrator, personWith } from "../../support/plane/people.ts";

const plane = await controlPlane();

const full: Partial<ApiTokenSpec> = {
  description: "x",
  expiresAt: "2026-06-01T12:00:00.000Z",
  keepsValue: true,
  // The longest that the REST interface accepts.
  owner: { subject: `https://${"i".repeat(504)}#${"s".repeat(255)}`, email: "e".repeat(254), name: "n".repeat(254) },
  assertedClaims: {
    groups: Array.from({ length: 500 }, (_, n) => `${n}`.padStart(128, "g")),
    at: "2026-06-01T12:00:00.000Z",
  },
};

function objectWith(spec: object = {}, name?: string) {
  const { metadata, ...token } = apiTokenFixture({}, tokenOf(randomBytes(32)));
  return { ...token, metadata: { name: name ?? metadata.name }, spec: { ...token.spec, ...spec } };
}

describe("the kind ApiToken", () => {
  let admin: ApiCalls;
  let platform: ApiCalls;
  let made: string | undefined;

  beforeAll(async () => {
    admin = administrator(plane);
    platform = callsAs(plane, { token: plane.platform.token });
  }, 60_000);
  afterEach(async () => {
    if (made !== undefined) await admin.delete(made);
    made = undefined;
  });

  const make = async (spec: object = {}) => {
    const object = objectWith(spec);
    await given(platform, paths.apiTokens, object);
    made = `${paths.apiTokens}/${object.metadata.name}`;
    return made;
  };

  test.each([
    ["a small one", {}],
    ["a full one", full],
  ])("accepts %s", async (_what, spec) => {
    expect(await platform.create(`${paths.apiTokens}?dryRun=All`, objectWith(spec))).toMatchObject({ status: 201 });
  });

  test.each([
    ["an unknown scope", { scopes: ["*"] }, 'Unsupported value: "*"'],
    ["no scope", { scopes: [] }, "should have at least 1 items"],
    ["a hash that is none", { tokenHash: "x".repeat(64) }, "spec.tokenHash in body should match"],
    ["the hash of another", { tokenHash: "0".repeat(64) }, "a token is named by the first 40 digits of its hash"],
  ])("refuses %s, and says so", async (_what, spec, words) => {
    const reply = await platform.create(`${paths.apiTokens}?dryRun=All`, objectWith(spec));
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(words);
  });

  test.each<[string, object]>([
    ["name", { name: "other" }],
    ["scopes", { scopes: ["ENV_CREATE", "CONFIG_WRITE"] }],
    ["owner", { owner: { subject: "https://idp.example.test#admin" } }],
    ["prefix", { prefix: "svc_other" }],
    ["description", { description: "other" }],
    ["description", { description: null }],
    ["expiresAt", { expiresAt: null }],
    ["expiresAt", { expiresAt: "2036-06-01T12:00:00.000Z" }],
    ["keepsValue", { keepsValue: false }],
  ])("keeps its %s, whatever %j asks for", async (field, spec) => {
    const reply = await platform.patch(await make(full), { spec });
    expect(reply).toMatchObject({ status: 422 });
    expect(reply.message).toContain(`spec.${field} can't be changed`);
  });

  test("takes no revocation back, and changes none", async () => {
    const path = await make();
    expect(await platform.patch(path, { spec: { revokedAt: "2026-06-01T12:00:00Z" } })).toMatchObject({ status: 200 });
    for (const revokedAt of [null, "2026-06-01T12:00:01Z"]) {
      const reply = await platform.patch(path, { spec: { revokedAt } });
      expect(reply).toMatchObject({ status: 422 });
      expect(reply.message).toContain("a revoked token stays revoked");
    }
  });

  test("takes nothing older of its owner than it has", async () => {
    const path = await make({ assertedClaims: { groups: ["a"], at: "2026-06-01T12:00:00.000Z" } });
    const assert = (at: string) => platform.patch(path, { spec: { assertedClaims: { groups: ["b"], at } } });
    const late = await assert("2026-06-01T11:59:59.999Z");
    expect(late).toMatchObject({ status: 422 });
    expect(late.message).toContain("an older ID token never overrides a newer one");
    expect(await assert("2026-06-01T12:00:00.000Z")).toMatchObject({ status: 200 });
    expect(await assert("2026-06-01T12:00:01.000Z")).toMatchObject({ status: 200 });
  });

  test("is the platform's alone: who maintains, or administers a namespace, neither reads nor writes it", async () => {
    const path = await make();
    for (const role of ["ephemeral-environments-maintain", "ephemeral-environments-view", "admin", "edit"]) {
      const person = await personWith(plane, role);
      for (const reply of [
        await person.get(path),
        await person.get(paths.apiTokens),
        await person.create(paths.apiTokens, objectWith()),
        await person.patch(path, { spec: { assertedClaims: { groups: ["admins"], at: "2036-06-01T12:00:00.000Z" } } }),
        await person.delete(path),
      ]) {
        expect({ role, status: reply.status }).toEqual({ role, status: 403 });
      }
      await person.leave();
    }
  });

  test("is written by no administrator of the cluster, who may delete it nevertheless", async () => {
    const path = await make();
    const words = "API tokens are written by the platform alone";
    for (const reply of [
      await admin.create(paths.apiTokens, objectWith()),
      await admin.patch(path, { spec: { assertedClaims: { groups: ["admins"], at: "2036-06-01T12:00:00.000Z" } } }),
      await admin.patch(path, { spec: { revokedAt: "2026-06-01T12:00:00Z" } }),
      await admin.patch(`${path}/status`, { status: { lastUsedAt: "2026-06-01T12:00:00Z" } }),
    ]) {
      expect(reply).toMatchObject({ status: 403, message: expect.stringContaining(words) });
    }
    expect(await admin.patch(path, { metadata: { labels: { team: "shop" } } })).toMatchObject({ status: 200 });
    // In the foreground: the garbage collector removes its own finalizer. It looks for new kinds every 30 s.
    expect(await admin.delete(path, { propagationPolicy: "Foreground" })).toMatchObject({ status: 200 });
    await until(async () => (await admin.get(path)).status === 404, {
      what: "the token being gone",
      deadlineMs: 60_000,
    });
  });

  test("may be written by the platform, and its status too", async () => {
    const object = objectWith();
    const path = `${paths.apiTokens}/${object.metadata.name}`;
    expect(await platform.create(paths.apiTokens, object)).toMatchObject({ status: 201 });
    expect(await platform.patch(path, { spec: { revokedAt: "2026-06-01T12:00:00Z" } })).toMatchObject({ status: 200 });
    const used = { status: { lastUsedAt: "2026-06-01T12:00:00Z" } };
    expect(await platform.patch(`${path}/status`, used)).toMatchObject({ status: 200 });
    expect(await platform.delete(path)).toMatchObject({ status: 200 });
  });
});
