import { type Clock, pause } from "../../kit/time/clock.ts";
import { type IdentityProvider, IdentityProviderUnavailable } from "../../ports/facade/identity-provider.ts";

const PAUSES_MS = [1_000, 5_000];

/**
 * Retries twice, after one second and after five more, if the provider surely sent nothing: no user waits. If it may
 * have sent a link it is not retried, so that one request is one mail.
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
