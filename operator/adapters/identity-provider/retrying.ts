import { type Clock, pause } from "../../kit/time/clock.ts";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../ports/facade/identity-provider.ts";

const PAUSES_MS = [1_000, 5_000];

/**
 * Asks a provider again that surely did not do it, twice, after a second and after five more: nobody waits for the answer.
 * One that may have done it is not asked again, so that one wish is one mail.
 */
export function retryingIdentityProvider(provider: IdentityProvider, clock: Clock): IdentityProvider {
  return {
    async sendPasswordReset(email, signal) {
      for (const pauseMs of PAUSES_MS) {
        try {
          return await provider.sendPasswordReset(email, signal);
        } catch (error) {
          if (signal.aborted || !mayAskAgain(error)) throw error;
          await pause(clock, pauseMs, signal);
        }
      }
      return provider.sendPasswordReset(email, signal);
    },
  };
}

function mayAskAgain(error: unknown): boolean {
  return error instanceof IdentityProviderUnavailable && error.mayAskAgain;
}
