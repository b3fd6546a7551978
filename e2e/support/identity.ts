import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type CryptoKey,
  decodeJwt,
  decodeProtectedHeader,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  SignJWT,
} from "jose";
import { stateFolder, tokens } from "./site.ts";

const HOUR_SECONDS = 3600;

/**
 * A token of a developer of this test file alone, otherwise like the local cluster's developer: rate limits count by
 * identity, and test files run concurrently.
 */
export const ownDeveloper = await signed(await providerKey(), HOUR_SECONDS, { sub: `e2e-${randomUUID()}` });

/** A token of the local identity provider for the developer, expired an hour ago. */
export async function expiredToken(): Promise<string> {
  return signed(await providerKey(), -HOUR_SECONDS);
}

/** A token like the provider's, signed by another key. */
export async function foreignToken(): Promise<string> {
  const { privateKey } = await generateKeyPair("RS256");
  return signed(privateKey, HOUR_SECONDS);
}

/** A valid token of the provider. */
export async function freshToken(): Promise<string> {
  return signed(await providerKey(), HOUR_SECONDS);
}

/** The developer's claims with changes, under the provider's key id, ending so many seconds from now. */
function signed(key: CryptoKey | Uint8Array, endsInSeconds: number, changed: JWTPayload = {}): Promise<string> {
  const { alg = "RS256", kid = "" } = decodeProtectedHeader(tokens.developer);
  const exp = Math.floor(Date.now() / 1000) + endsInSeconds;
  const claims = { ...decodeJwt(tokens.developer), iat: exp - HOUR_SECONDS, exp, ...changed };
  return new SignJWT(claims).setProtectedHeader({ alg, kid }).sign(key);
}

/** The local identity provider keeps its key in a file, so that tokens outlive its restart. */
async function providerKey(): Promise<CryptoKey | Uint8Array> {
  const keys = await readFile(join(stateFolder, "identity-provider/keys.json"), "utf8");
  return importJWK((JSON.parse(keys) as { signing: JWK }).signing, "RS256");
}
