import { importJWK, type JWK, SignJWT } from "jose";
import { identityFolder } from "../folders.ts";
import { localIssuer } from "../network/addresses.ts";
import { accountByEmail } from "./accounts.ts";
import { toolClientId } from "./clients.ts";
import { findAccount, idTokenSeconds } from "./configuration.ts";
import { readProviderKeys } from "./keys.ts";

/**
 * An ID token of an account, equal to that of a log-in, signed with the provider's key. It requires access to the provider's
 * folder instead of a password.
 *
 * @param stateDir the provider's folder
 * @param issuer the provider's issuer, as in its tokens
 *
 * Fails when the provider was never started, or for an unknown address.
 */
export async function signedIdToken(stateDir: string, issuer: string, email: string): Promise<string> {
  const account = accountByEmail(email);
  if (!account) throw new Error(`${email} is no account of the local identity provider`);
  const { signing } = await readProviderKeys(stateDir);
  const claims = await findAccount(account.subject)?.claims("id_token", "", {}, []);
  const now = Math.floor(Date.now() / 1000);
  const times = { auth_time: now, iat: now, exp: now + idTokenSeconds };
  return new SignJWT({ ...claims, ...times, iss: issuer, aud: toolClientId })
    .setProtectedHeader({ alg: "RS256", typ: "JWT", kid: String(signing.kid) })
    .sign(await importJWK(signing as JWK, "RS256"));
}

/** ID tokens of the accounts that the documentation and the tests use, by the names of shell variables. */
export async function userTokens() {
  const token = (email: string) => signedIdToken(identityFolder, localIssuer, email);
  return {
    ID_TOKEN: await token("dev@example.test"),
    OTHER_ID_TOKEN: await token("other@example.test"),
    ADMIN_ID_TOKEN: await token("admin@example.test"),
  };
}
