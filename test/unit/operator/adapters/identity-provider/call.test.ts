import { expect, test } from "@jest/globals";
import { retryingIdentityProvider } from "../../../../../operator/adapters/identity-provider/call.ts";
import {
  type IdentityProvider,
  IdentityProviderUnavailable,
} from "../../../../../operator/ports/api/identity-provider.ts";
import { fastClock } from "../../../../support/doubles/fast-clock.ts";
import { memoryIdentityProvider } from "../../../../support/doubles/memory/identity-provider.ts";

const EMAIL = "dev@example.test";

function failing(times: number, mayAskAgain = true) {
  const memory = memoryIdentityProvider(EMAIL);
  let left = times;
  const provider: IdentityProvider = {
    async sendPasswordReset(email, signal) {
      if (left-- > 0) throw new IdentityProviderUnavailable("away", { mayAskAgain });
      return memory.sendPasswordReset(email, signal);
    },
  };
  return { provider: retryingIdentityProvider(provider, fastClock(1000)), memory, left: () => left };
}

test.each([0, 1, 2])("a link is sent once, after %i failures of the provider", async (times) => {
  const { provider, memory } = failing(times);
  await provider.sendPasswordReset(EMAIL, new AbortController().signal);
  expect(memory.sentTo).toEqual([EMAIL]);
});

test("three failures are one", async () => {
  const { provider, memory } = failing(3);
  const sent = provider.sendPasswordReset(EMAIL, new AbortController().signal);
  await expect(sent).rejects.toThrow(IdentityProviderUnavailable);
  expect(memory.sentTo).toEqual([]);
});

test("a provider that may have done it is not asked again", async () => {
  const { provider, memory, left } = failing(1, false);
  const sent = provider.sendPasswordReset(EMAIL, new AbortController().signal);
  await expect(sent).rejects.toThrow(IdentityProviderUnavailable);
  expect([memory.sentTo, left()]).toEqual([[], 0]);
});

test("who no longer waits ends the tries", async () => {
  const { provider, left } = failing(9);
  await expect(provider.sendPasswordReset(EMAIL, AbortSignal.abort())).rejects.toThrow(IdentityProviderUnavailable);
  expect(left()).toBe(8);
});
