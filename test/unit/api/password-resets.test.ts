import { expect, test } from "@jest/globals";
import { createPasswordResets } from "../../../api/password-resets.ts";
import { Refusal } from "../../../api/refusals.ts";
import { type Log, silentLog } from "../../../operator/kit/log.ts";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../../operator/ports/identity-provider.ts";
import { fastClock } from "../../support/fast-clock.ts";
import { memoryIdentityProvider } from "../../support/memory-identity-provider.ts";

const EMAIL = "dev@example.test";

function resetsWith(provider: IdentityProvider | undefined) {
  const errors: unknown[] = [];
  const stopping = new AbortController();
  const log: Log = { ...silentLog, error: (message, facts) => void errors.push([message, facts]), with: () => log };
  const tallies = new Map<string, number>();
  const tally = async (key: string) => {
    tallies.set(key, (tallies.get(key) ?? 0) + 1);
    return tallies.get(key) ?? 0;
  };
  const parts = { provider, tally, perHour: 5, log, clock: fastClock(1000), stopping: stopping.signal };
  const resets = createPasswordResets(parts);
  return { resets, errors, stopping };
}

/** Fails so often, then sends. */
function failing(times: number) {
  const memory = memoryIdentityProvider(EMAIL);
  let left = times;
  const provider: IdentityProvider = {
    async sendPasswordReset(email, signal) {
      if (left-- > 0) throw new IdentityProviderUnavailable("away");
      return memory.sendPasswordReset(email, signal);
    },
  };
  return { provider, memory };
}

test.each([0, 1, 2])("a link is sent once, after %i failures of the provider", async (times) => {
  const { provider, memory } = failing(times);
  const { resets, errors } = resetsWith(provider);
  await resets.request(EMAIL);
  await resets.idle();
  expect(memory.sentTo).toEqual([EMAIL]);
  expect(errors).toEqual([]);
});

test("a provider that stays away is told in the log, without the address", async () => {
  const { provider, memory } = failing(3);
  const { resets, errors } = resetsWith(provider);
  await resets.request(EMAIL);
  await resets.idle();
  expect(memory.sentTo).toEqual([]);
  expect(errors).toHaveLength(1);
  expect(JSON.stringify(errors)).not.toContain(EMAIL);
});

test("an address gets five links an hour, in whatever letter case it is written", async () => {
  const memory = memoryIdentityProvider(EMAIL);
  const { resets } = resetsWith(memory);
  for (let count = 0; count < 7; count += 1) await resets.request(count % 2 === 0 ? EMAIL : EMAIL.toUpperCase());
  await resets.idle();
  expect(memory.sentTo).toHaveLength(5);
});

test("no provider, or too many who wait, is unavailable for every address", async () => {
  await expect(resetsWith(undefined).resets.request(EMAIL)).rejects.toThrow(Refusal);
  const { resets, stopping } = resetsWith({ sendPasswordReset: () => new Promise(() => undefined) });
  for (let count = 0; count < 100; count += 1) await resets.request(`${count}@example.test`);
  await expect(resets.request(EMAIL)).rejects.toThrow(Refusal);
  stopping.abort();
});

test("the end of the process ends the tries", async () => {
  const { provider, memory } = failing(9);
  const { resets, stopping } = resetsWith(provider);
  await resets.request(EMAIL);
  stopping.abort();
  await resets.idle();
  expect(memory.sentTo).toEqual([]);
});
