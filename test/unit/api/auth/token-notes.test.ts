import { beforeEach, describe, expect, test } from "@jest/globals";
import type { Caller } from "../../../../api/auth/access.ts";
import { tokenNotes } from "../../../../api/auth/token-notes.ts";
import type { ApiToken } from "../../../../crds/api-token.ts";
import { DAY_MS, HOUR_MS } from "../../../../crds/durations.ts";
import { type MemoryApiTokens, memoryApiTokens } from "../../../support/doubles/memory/api-tokens.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { apiTokenFixture } from "../../../support/fixtures/api-token-fixture.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";

const NOW = "2026-06-01T12:00:00.000Z";

let clock: TestClock;
let apiTokens: MemoryApiTokens;
let notes: ReturnType<typeof tokenNotes>;
let token: ApiToken;

beforeEach(async () => {
  clock = new TestClock(NOW);
  apiTokens = memoryApiTokens(clock);
  notes = tokenNotes({ apiTokens, clock, log: silentLog });
  token = await apiTokens.create(apiTokenFixture({ assertedClaims: { groups: ["a", "b"], at: NOW } }).spec);
});

const { owner } = apiTokenFixture().spec;
const owned = (groups: readonly string[], laterMs: number, subject = owner.subject): Caller => ({
  subject,
  email: "",
  name: "",
  groups,
  claims: {},
  roles: [],
  permissions: new Set(),
  method: "id_token",
  expiresAt: undefined,
  assertedAt: new Date(Date.parse(NOW) + laterMs),
});
/** Writes run beside the requests: the double needs one turn of the event loop. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const groups = async () => {
  await settled();
  return apiTokens.known(token.metadata.name)?.spec.assertedClaims.groups;
};
const writes = () => apiTokens.writes.filter((what) => what !== "create");

describe("an owner with an ID token", () => {
  test("has the claims that let them in noted for their API tokens at once", async () => {
    notes.ownerSeen({ ...owned(["a", "b"], 1_000), claims: { hd: "example.test" } });
    await settled();
    expect(apiTokens.known(token.metadata.name)?.spec.assertedClaims.claims).toEqual({ hd: "example.test" });
  });

  test("loses a group for their API tokens at once, or gains one", async () => {
    notes.ownerSeen(owned(["a"], HOUR_MS));
    expect(await groups()).toEqual(["a"]);
    notes.ownerSeen(owned(["c", "a"], 2 * HOUR_MS));
    expect(await groups()).toEqual(["a", "c"]);
  });

  test.each<[string, readonly string[], number, number]>([
    ["the same groups in another order", ["b", "a", "a"], HOUR_MS, 0],
    ["the same groups a day later", ["a", "b"], DAY_MS, 1],
    ["an ID token that is older than what is known", ["admins"], -HOUR_MS, 0],
  ])("and %s costs %j", async (_what, given, laterMs, count) => {
    notes.ownerSeen(owned(given, laterMs));
    expect(await groups()).toEqual(["a", "b"]);
    expect(writes()).toHaveLength(count);
  });

  test("changes no token of others, and none that is revoked", async () => {
    notes.ownerSeen(owned([], HOUR_MS, `${owner.subject}2`));
    expect(await groups()).toEqual(["a", "b"]);
    await apiTokens.revoke(token, clock.now());
    notes.ownerSeen(owned([], HOUR_MS));
    expect(await groups()).toEqual(["a", "b"]);
  });

  test("brings all of their tokens up to date, each once however many requests come", async () => {
    const value = "svc_another";
    await apiTokens.create(apiTokenFixture({ assertedClaims: { groups: ["a", "b"], at: NOW } }, value).spec);
    for (let count = 0; count < 20; count += 1) notes.ownerSeen(owned(["a"], HOUR_MS));
    expect(await groups()).toEqual(["a"]);
    expect(writes()).toEqual(["storeAssertion", "storeAssertion"]);
  });

  test("fails by nothing that goes wrong there, and it is tried again a while later", async () => {
    apiTokens.setReachable(false);
    notes.ownerSeen(owned(["a"], HOUR_MS));
    await settled();
    apiTokens.setReachable(true);
    notes.ownerSeen(owned(["a"], HOUR_MS));
    expect(await groups()).toEqual(["a", "b"]);
    clock.advance(10_000);
    notes.ownerSeen(owned(["a"], HOUR_MS));
    expect(await groups()).toEqual(["a"]);
  });
});

describe("the last use of a token", () => {
  const use = async () => {
    notes.used(token);
    await settled();
  };

  test("is noted at most once a minute, however old the token's copy is", async () => {
    for (let count = 0; count < 20; count += 1) await use();
    clock.advance(59_999);
    await use();
    expect(writes()).toEqual(["note use"]);
    clock.advance(1);
    await use();
    expect(writes()).toEqual(["note use", "note use"]);
    expect(apiTokens.known(token.metadata.name)?.status?.lastUsedAt).toBe("2026-06-01T12:01:00.000Z");
  });

  test("is noted again when a clock had been ahead", async () => {
    await apiTokens.noteUse(token, new Date("2027-01-01T00:00:00Z"));
    await use();
    expect(apiTokens.known(token.metadata.name)?.status?.lastUsedAt).toBe(NOW);
  });
});
