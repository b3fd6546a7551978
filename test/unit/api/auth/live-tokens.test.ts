import { beforeEach, describe, expect, test } from "@jest/globals";
import { LiveTokens } from "../../../../api/auth/live-tokens.ts";
import type { ApiToken } from "../../../../crds/api-token.ts";
import { SECOND_MS } from "../../../../crds/durations.ts";
import { ClusterUnavailable } from "../../../../crds/errors.ts";
import { type MemoryApiTokens, memoryApiTokens } from "../../../support/doubles/memory/api-tokens.ts";
import { TestClock } from "../../../support/doubles/test-clock.ts";
import { apiTokenFixture } from "../../../support/fixtures/api-token-fixture.ts";

let clock: TestClock;
let apiTokens: MemoryApiTokens;
let live: LiveTokens;
let token: ApiToken;
let id: string;

beforeEach(async () => {
  clock = new TestClock("2026-06-01T12:00:00.000Z");
  apiTokens = memoryApiTokens(clock);
  live = new LiveTokens(apiTokens, clock);
  token = await apiTokens.create(apiTokenFixture().spec);
  id = token.metadata.name;
  // From here on the watch is silent.
  apiTokens.setWatching(false);
});

const revoked = { revokedAt: "2026-06-01T12:00:00.000Z" };
const find = () => live.find(id, true);
const findForChange = () => live.find(id, false);

describe("an answer", () => {
  test("is trusted for a second, and then asked for again", async () => {
    await find();
    clock.advance(SECOND_MS - 1);
    expect(await find()).toMatchObject({ metadata: { name: id } });
    expect(apiTokens.reads).toHaveLength(1);
    clock.advance(1);
    await find();
    expect(apiTokens.reads).toHaveLength(2);
  });

  test("outlives a revocation on another replica by less than a second, whether the watch lives or not", async () => {
    await find();
    apiTokens.elsewhere(token, revoked);
    clock.advance(SECOND_MS - 1);
    expect((await find())?.spec.revokedAt).toBeUndefined();
    clock.advance(1);
    expect((await find())?.spec.revokedAt).toBe(revoked.revokedAt);
  });

  test("is outdone at once by a revocation that the watch saw, which needs no question", async () => {
    await find();
    apiTokens.setWatching(true);
    apiTokens.elsewhere(token, revoked);
    expect((await find())?.spec.revokedAt).toBe(revoked.revokedAt);
    clock.advance(SECOND_MS);
    await find();
    expect(apiTokens.reads).toHaveLength(1);
  });

  test("is replaced at once by later facts about the owner from the watch", async () => {
    await find();
    apiTokens.setWatching(true);
    apiTokens.elsewhere(token, { assertedClaims: { groups: [], at: "2026-06-01T11:00:00.000Z" } });
    expect((await find())?.spec.assertedClaims.groups).toEqual([]);
  });

  test("is not replaced by earlier facts from the watch", async () => {
    apiTokens.elsewhere(token, { assertedClaims: { groups: [], at: "2026-06-01T11:00:00.000Z" } });
    expect((await find())?.spec.assertedClaims.groups).toEqual([]);
  });

  test("that a token is gone is believed", async () => {
    await find();
    clock.advance(SECOND_MS);
    await apiTokens.remove(token);
    expect(await find()).toBeUndefined();
    apiTokens.setReachable(false);
    await expect(find()).rejects.toBeInstanceOf(ClusterUnavailable);
  });
});

describe("questions", () => {
  test("about one token at the same time are one", async () => {
    await Promise.all(Array.from({ length: 50 }, find));
    expect(apiTokens.reads).toEqual([id]);
  });

  test("that began too long ago are not joined", async () => {
    const answer = Promise.withResolvers<ApiToken | undefined>();
    let requested = 0;
    const slow = {
      known: () => undefined,
      readClaimed: () => {
        requested += 1;
        return requested === 1 ? answer.promise : Promise.resolve(apiTokenFixture(revoked));
      },
    };
    const tokens = new LiveTokens(slow, clock);
    const first = tokens.find(id, true);
    clock.advance(SECOND_MS);
    expect((await tokens.find(id, true))?.spec.revokedAt).toBe(revoked.revokedAt);
    answer.resolve(token);
    await first;
    // The late answer is older than the other one.
    expect((await tokens.find(id, true))?.spec.revokedAt).toBe(revoked.revokedAt);
    expect(requested).toBe(2);
  });
});

describe("while the API server is away", () => {
  beforeEach(async () => {
    await find();
    apiTokens.setReachable(false);
  });

  test.each([
    [999, "served", "served"],
    [1_000, "served", "refused"],
    [61_000, "served", "refused"],
    [61_001, "refused", "refused"],
  ])("a token that was good %i ms ago is %s for reads, and %s for changes", async (ms, reads, changes) => {
    clock.advance(ms);
    const outcome = async (call: Promise<unknown>) =>
      call.then(
        () => "served",
        (error: unknown) => (error instanceof ClusterUnavailable ? "refused" : error),
      );
    expect([await outcome(find()), await outcome(findForChange())]).toEqual([reads, changes]);
  });

  test("a token that was not asked for before is refused for reads, too", async () => {
    await expect(new LiveTokens(apiTokens, clock).find(id, true)).rejects.toBeInstanceOf(ClusterUnavailable);
  });

  test("readers don't wait for question after question: one a second is enough", async () => {
    clock.advance(2 * SECOND_MS);
    const before = apiTokens.reads.length;
    for (let count = 0; count < 20; count += 1) await find();
    expect(apiTokens.reads.length - before).toBe(1);
    clock.advance(SECOND_MS);
    await find();
    expect(apiTokens.reads.length - before).toBe(2);
  });

  test("a revocation that the watch still brought counts", async () => {
    apiTokens.setReachable(true);
    apiTokens.setWatching(true);
    apiTokens.elsewhere(token, revoked);
    apiTokens.setReachable(false);
    clock.advance(2 * SECOND_MS);
    expect((await find())?.spec.revokedAt).toBe(revoked.revokedAt);
  });

  test("everything is as before once it is back", async () => {
    clock.advance(120 * SECOND_MS);
    await expect(find()).rejects.toBeInstanceOf(ClusterUnavailable);
    apiTokens.setReachable(true);
    expect(await findForChange()).toBeDefined();
  });
});
