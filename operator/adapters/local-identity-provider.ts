import { type IdentityProvider, IdentityProviderUnavailable } from "../ports/identity-provider.ts";
import { post } from "./identity-provider-call.ts";

/** The identity provider of the local cluster: `POST <issuer>/password-reset` with `{email}`, answered 202 for every address. */
export function localIdentityProvider(issuer: string): IdentityProvider {
  return {
    async sendPasswordReset(email, signal) {
      const { status } = await post(`${issuer}/password-reset`, { body: { email }, signal });
      if (status !== 202) throw new IdentityProviderUnavailable(`the identity provider answered ${status}`);
    },
  };
}
