import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, type GenerateKeyPairResult, generateKeyPair, type JWTPayload, SignJWT } from "jose";

export const AUDIENCE = "ephemeral";
const KEY_ID = "k1";

/** An identity provider's public half, with the private key at hand. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly jwksUri: string;
  /** The public key as JSON text: a confused verifier would take it as an HMAC secret. */
  readonly publicKeyText: string;
  readonly fetches: () => number;
  /** Signs claims as an ID token, valid for an hour by default; `header` overrides. */
  sign(claims: JWTPayload, header?: Record<string, unknown>): Promise<string>;
  /** Replaces the keys by new ones with a new id, as in a rotation. */
  rotate(): Promise<void>;
  setReachable(reachable: boolean): void;
  discover(document: Record<string, unknown>): void;
  stop(): Promise<void>;
}

/** Making an RSA key takes a twentieth of a second: stopped issuers leave theirs for reuse. Running ones never share. */
const spareKeys: GenerateKeyPairResult[] = [];
const keyPair = async () => spareKeys.pop() ?? generateKeyPair("RS256", { extractable: true });

/** Starts an issuer on a free loopback port. `now` dates the tokens. */
export async function startTokenIssuer(now: () => Date = () => new Date()): Promise<TokenIssuer> {
  let { keys, kid } = { keys: await keyPair(), kid: KEY_ID };
  let isReachable = true;
  let fetches = 0;
  let discovery: Record<string, unknown> = {};

  const jwk = async () => ({ ...(await exportJWK(keys.publicKey)), kid, alg: "RS256", use: "sig" });
  const answer = async (path: string, response: ServerResponse) => {
    if (!isReachable) return void response.writeHead(503).end();
    if (path === "/jwks") fetches += 1;
    const document = path === "/jwks" ? { keys: [await jwk()] } : { issuer, jwks_uri: `${issuer}/jwks`, ...discovery };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
  };
  const server = createServer((request, response) => {
    answer(request.url ?? "", response).catch((error: Error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
    spareKeys.push(keys);
  };
  // Once: two releases would give the key to two issuers.
  let stopped: Promise<void> | undefined;

  return {
    issuer,
    jwksUri: `${issuer}/jwks`,
    publicKeyText: JSON.stringify(await jwk()),
    fetches: () => fetches,
    sign: (claims, header = {}) => {
      const iat = Math.floor(now().getTime() / 1000);
      const payload = { iss: issuer, aud: AUDIENCE, iat, exp: iat + 3600, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: "RS256", kid, ...header }).sign(keys.privateKey);
    },
    rotate: async () => {
      keys = await keyPair();
      kid = `${kid}x`;
    },
    setReachable: (reachable) => {
      isReachable = reachable;
    },
    discover: (document) => {
      discovery = document;
    },
    stop() {
      stopped ??= close();
      return stopped;
    },
  };
}
