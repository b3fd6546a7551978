import { type IdentityProvider, IdentityProviderUnavailable } from "../../ports/facade/identity-provider.ts";
import { isPassing, post } from "./call.ts";

/**
 * Identity provider of the local cluster: `POST <issuer>/password-reset` with `{email}`, answered 202 for every
 * address.
 */
export function localIdentityProvider(issuer: string): IdentityProvider {
  return {
    async sendPasswordReset(email, signal) {
      const { status } = await post(`${issuer}/password-reset`, { body: { email }, signal });
      if (status === 202) return;
      const message = `the identity provider answered ${status}`;
      throw new IdentityProviderUnavailable(message, { mayAskAgain: isPassing(status) });
    },
  };
}
