import { describe, expect, test } from "@jest/globals";
import { type ApiToken, TOKEN_VARIABLE, tokenOf, valueOwner } from "../../../../../crds/api-token.ts";
import { Sensitive } from "../../../../../crds/sensitive.ts";
import { createOrphanedValues } from "../../../../../operator/controllers/garbage-collection/api-tokens.ts";
import { removeOnDeletion } from "../../../../../operator/controllers/garbage-collection/watches.ts";
import { createObjectCache } from "../../../../../operator/kit/cache/indexed-cache.ts";
import { ownDeletions } from "../../../../../operator/kit/client/own-deletions.ts";
import { memoryEventRecorder } from "../../../../support/doubles/memory/event-recorder.ts";
import { memorySecretManager } from "../../../../support/doubles/memory/secret-manager.ts";
import { TestClock } from "../../../../support/doubles/test-clock.ts";
import { apiTokenFixture } from "../../../../support/fixtures/api-token-fixture.ts";
import { fixtureSettings, UID } from "../../../../support/fixtures/environment/environment-fixture.ts";
import { silentLog } from "../../../../support/fixtures/silent-log.ts";

const GRACE_MS = fixtureSettings.sweep.graceSeconds * 1_000;

function token(number: number, keepsValue = true): ApiToken {
  const made = apiTokenFixture({ keepsValue }, tokenOf(new Uint8Array(32).fill(number)));
  const uid = UID.replace(/^.{8}/, String(number).padStart(8, "0"));
  return { ...made, metadata: { ...made.metadata, uid } };
}

async function scene({ living, gone }: { living: number; gone: number }) {
  const clock = new TestClock();
  const [secretManager, events] = [memorySecretManager(() => clock.now()), memoryEventRecorder(clock)];
  const tokens = Array.from({ length: living + gone }, (_, index) => token(index));
  const generate = () => new Sensitive("svc_value");
  for (const one of tokens)
    await secretManager.ensure(valueOwner(one), [{ name: TOKEN_VARIABLE, version: 1, generate }]);
  await secretManager.ensure({ name: "shop", uid: "ffffffff-1111-4222-8333-444455556666" }, [
    { name: "SECRET_KEY", version: 1, generate },
  ]);
  let answer: () => Promise<readonly string[]> = async () =>
    tokens.slice(0, living).map(({ metadata }) => metadata.uid);
  const values = createOrphanedValues({
    settings: fixtureSettings,
    secretManager,
    clock,
    events,
    log: silentLog,
    isKnown: () => false,
    livingTokens: () => answer(),
  });
  return {
    clock,
    tokens,
    values,
    secretManager,
    events,
    list(next: typeof answer) {
      answer = next;
    },
    sweep: () => values.sweep(new AbortController().signal),
    async left() {
      const names = (await secretManager.owners(() => false)).map(({ name }) => name);
      return { tokens: names.filter((name) => name !== "shop").length, environments: names.includes("shop") ? 1 : 0 };
    },
  };
}

describe("the value of an API token that is gone", () => {
  test("goes at once when its deletion was seen, and no other does", async () => {
    const { tokens, values, sweep, left } = await scene({ living: 2, gone: 1 });
    values.deleted(tokens[2] as ApiToken);
    await sweep();
    expect(await left()).toEqual({ tokens: 2, environments: 1 });
  });

  test("goes after the grace when the last token was seen to go: a lost store shows none either", async () => {
    const { clock, tokens, values, sweep, left } = await scene({ living: 0, gone: 1 });
    values.deleted(tokens[0] as ApiToken);
    await sweep();
    expect(await left()).toEqual({ tokens: 1, environments: 1 });
    clock.advance(GRACE_MS);
    await sweep();
    expect(await left()).toEqual({ tokens: 0, environments: 1 });
  });

  test("is removed after the grace period when no watch saw its deletion", async () => {
    const { clock, sweep, left } = await scene({ living: 1, gone: 1 });
    await sweep();
    clock.advance(GRACE_MS - 1);
    await sweep();
    expect(await left()).toEqual({ tokens: 2, environments: 1 });
    clock.advance(1);
    await sweep();
    expect(await left()).toEqual({ tokens: 1, environments: 1 });
  });

  test.each([
    { name: "the list of tokens is empty", living: async () => [] },
    { name: "the list of tokens fails", living: () => Promise.reject(new Error("away")) },
  ])("stays while $name", async ({ living }) => {
    const { clock, list, sweep, left } = await scene({ living: 0, gone: 1 });
    list(living);
    for (const _again of [1, 2, 3]) {
      await sweep().catch(() => undefined);
      clock.advance(GRACE_MS);
    }
    expect(await left()).toEqual({ tokens: 1, environments: 1 });
  });

  test("stays when its token is there again, whatever the watch has seen", async () => {
    const { clock, tokens, values, sweep, left } = await scene({ living: 2, gone: 0 });
    for (const one of tokens) values.deleted(one);
    await sweep();
    clock.advance(GRACE_MS);
    await sweep();
    expect(await left()).toEqual({ tokens: 2, environments: 1 });
  });

  test.each([
    { name: "seen to go", isSeen: true },
    { name: "not seen to go", isSeen: false },
  ])("stays when implausibly many are gone, which is reported once: $name", async ({ isSeen }) => {
    const gone = fixtureSettings.sweep.deletionBudget.atLeast + 1;
    const { clock, tokens, values, sweep, left, events } = await scene({ living: 1, gone });
    if (isSeen) for (const one of tokens.slice(1)) values.deleted(one);
    await sweep();
    clock.advance(GRACE_MS);
    await sweep();
    expect(await left()).toEqual({ tokens: 1 + gone, environments: 1 });
    expect(events.list().map(({ reason }) => reason)).toEqual(["TokenValuesBlocked"]);
  });

  test.each([
    { living: 1, remedy: /remove them from the secret manager, or raise settings\.sweep/ },
    { living: 0, remedy: /remove them from the secret manager$/ },
  ])("no longer counts when people have removed it, beside $living that live", async ({ living, remedy }) => {
    const gone = fixtureSettings.sweep.deletionBudget.atLeast + 1;
    const { clock, tokens, values, sweep, left, events, secretManager } = await scene({ living, gone });
    for (const one of tokens.slice(living)) values.deleted(one);
    await sweep();
    expect(events.list().map(({ message }) => message)).toEqual([expect.stringMatching(remedy)]);
    for (const one of tokens.slice(living + 1)) await secretManager.remove(valueOwner(one), [TOKEN_VARIABLE]);
    clock.advance(GRACE_MS);
    await sweep();
    expect(await left()).toEqual({ tokens: living, environments: 1 });
  });

  test("is tried again when the secret manager was away", async () => {
    const { tokens, values, sweep, left, secretManager } = await scene({ living: 1, gone: 1 });
    values.deleted(tokens[1] as ApiToken);
    secretManager.setReachable(false);
    await expect(sweep()).rejects.toThrow("away");
    secretManager.setReachable(true);
    await sweep();
    expect(await left()).toEqual({ tokens: 1, environments: 1 });
  });
});

test("a deletion wakes for tokens that keep a value, and that this process did not drop itself", async () => {
  const cache = createObjectCache<ApiToken>();
  const removals = ownDeletions();
  const woken: ApiToken[] = [];
  const end = removeOnDeletion(cache, removals, (deleted) => void woken.push(deleted));
  const [kept, shown, dropped, later] = [token(1), token(2, false), token(3), token(4)];
  for (const one of [kept, shown, dropped, later]) cache.upsert(one);
  await removals.during(dropped.metadata.uid, async () => cache.remove(dropped));
  for (const one of [kept, shown]) cache.remove(one);
  end();
  cache.remove(later);
  expect(woken).toEqual([kept]);
});
