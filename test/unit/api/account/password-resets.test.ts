import { expect, test } from "@jest/globals";
import { createPasswordResets } from "../../../../api/account/password-resets.ts";
import { HttpError } from "../../../../api/errors.ts";
import type { Log } from "../../../../operator/kit/log.ts";
import type { IdentityProvider } from "../../../../operator/ports/api/identity-provider.ts";
import { memoryIdentityProvider } from "../../../support/doubles/memory/identity-provider.ts";
import { silentLog } from "../../../support/fixtures/silent-log.ts";

const EMAIL = "dev@example.test";

function resetsWith(provider: IdentityProvider | undefined) {
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const log: Log = { ...silentLog, error: (message, facts) => void errors.push([message, facts]), with: () => log };
  const counts = new Map<string, number>();
  const count = async (key: string) => {
    // Shared counters answer later.
    await new Promise(setImmediate);
    counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts.get(key) ?? 0;
  };
  const settings = { api: { limits: { passwordResetsPerHour: 5 } } };
  const resets = createPasswordResets({ identityProvider: provider, settings, log, stopping: stopping.signal }, count);
  return { resets, errors, stopping };
}

test("a provider that stays away is logged, without the address", async () => {
  const memory = memoryIdentityProvider(EMAIL);
  memory.away = true;
  const { resets, errors } = resetsWith(memory);
  await resets.request(EMAIL);
  await resets.idle();
  expect(memory.sentTo).toEqual([]);
  expect(errors).toHaveLength(1);
  expect(JSON.stringify(errors)).not.toContain(EMAIL);
});

test("an address gets five links an hour, in any letter case", async () => {
  const memory = memoryIdentityProvider(EMAIL);
  const { resets } = resetsWith(memory);
  const wishes = Array.from({ length: 7 }, (_, count) => (count % 2 === 0 ? EMAIL : EMAIL.toUpperCase()));
  await Promise.all(wishes.map((wish) => resets.request(wish)));
  await resets.idle();
  expect(memory.sentTo).toHaveLength(5);
});

test("no provider, or too many waiting requests, is unavailable for every address", async () => {
  await expect(resetsWith(undefined).resets.request(EMAIL)).rejects.toThrow(HttpError);
  const { resets, stopping } = resetsWith({ sendPasswordReset: () => new Promise(() => undefined) });
  const wishes = Array.from({ length: 120 }, (_, count) => resets.request(`${count}@example.test`));
  const answers = await Promise.allSettled(wishes);
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(100);
  await expect(resets.request(EMAIL)).rejects.toThrow(HttpError);
  stopping.abort();
});
