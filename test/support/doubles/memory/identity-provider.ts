import {
  type IdentityProvider,
  IdentityProviderUnavailable,
} from "../../../../operator/ports/api/identity-provider.ts";

/** Accounts by address, and the addresses of sent links. */
export interface MemoryIdentityProvider extends IdentityProvider {
  readonly sentTo: readonly string[];
  /** True: every call fails. */
  away: boolean;
}

export function memoryIdentityProvider(...accounts: readonly string[]): MemoryIdentityProvider {
  const sentTo: string[] = [];
  return {
    sentTo,
    away: false,
    async sendPasswordReset(email, signal) {
      const mayAskAgain = !signal.aborted;
      if (this.away || signal.aborted)
        throw new IdentityProviderUnavailable("the identity provider is away", { mayAskAgain });
      if (accounts.includes(email.toLowerCase())) sentTo.push(email.toLowerCase());
    },
  };
}
