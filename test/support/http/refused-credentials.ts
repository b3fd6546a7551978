import { createHmac, generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import { tokenOf } from "../../../crds/api-token.ts";
import { type ApiService, PEOPLE } from "./api-service.ts";

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

interface Forgery {
  readonly claims: object;
  readonly nowSeconds: number;
  /** Signed by the true issuer, with other claims or another header. */
  readonly signed: (claims: object, header?: Record<string, unknown>) => Promise<string>;
  /** Signed by the attacker's key. */
  readonly ownSigned: (header: object) => Promise<string>;
}

const own = generateKeyPairSync("rsa", { modulusLength: 2048 });

function forgery({ issuer, clock }: ApiService): Forgery {
  const nowSeconds = Math.floor(clock.now().getTime() / 1000);
  const claims = { ...PEOPLE.admin, iss: issuer.issuer, aud: "ephemeral", iat: nowSeconds, exp: nowSeconds + 600 };
  return {
    claims,
    nowSeconds,
    signed: async (more, header) => `Bearer ${await issuer.sign({ ...PEOPLE.admin, ...more }, header)}`,
    ownSigned: async (header) =>
      `Bearer ${await new SignJWT(claims).setProtectedHeader({ alg: "RS256", ...header }).sign(own.privateKey)}`,
  };
}

function hs256(claims: object, secret: string): string {
  const input = `${base64({ alg: "HS256", kid: "k1" })}.${base64(claims)}`;
  return `${input}.${createHmac("sha256", secret).update(input).digest("base64url")}`;
}

/** Invalid credentials for `service`, by description; each claims to be an admin. */
export async function refusedCredentials(service: ApiService, foreign: ApiService): Promise<Record<string, string>> {
  const { claims, nowSeconds, signed, ownSigned } = forgery(service);
  const [head, , signature] = (await service.issuer.sign(PEOPLE.viewer)).split(".");
  const unsigned = (header: object) => `Bearer ${base64(header)}.${base64(claims)}`;
  return {
    ...(await badClaims(signed, nowSeconds)),

    "no bearer scheme": `Basic ${await service.issuer.sign(PEOPLE.admin)}`,
    "an empty bearer": "Bearer ",
    "a text that is no token": "Bearer nonsense",
    "a text that only begins like an API token": "Bearer svc_0123456789abcdef",
    "an API token that was never made": `Bearer ${tokenOf(new Uint8Array(32).fill(7))}`,
    "a token of another issuer": await foreign.bearer("admin"),
    "a foreign token that names our issuer": await foreign.bearer("admin", { iss: service.issuer.issuer }),
    "an access token": await signed({}, { typ: "at+jwt" }),
    "a critical unknown header": `${unsigned({ alg: "RS256", kid: "k1", crit: ["x"], x: 1 })}.c2ln`,
    "alg none": `${unsigned({ alg: "none" })}.`,
    "alg none with a signature": `${unsigned({ alg: "none" })}.c2ln`,
    "the public key as an HMAC secret": `Bearer ${hs256(claims, service.issuer.publicKeyText)}`,
    "a changed payload": `Bearer ${head}.${base64(claims)}.${signature}`,
    "an unknown key id": await signed({}, { kid: "../../etc/passwd" }),
    "a key of one's own in the header": await ownSigned({ jwk: own.publicKey.export({ format: "jwk" }) }),
    "a place for keys in the header": await ownSigned({ kid: "k1", jku: "http://127.0.0.1:1/jwks" }),
    "a JWE": `Bearer ${[{ alg: "RSA-OAEP", enc: "A256GCM" }, 1, 2, 3, 4].map(base64).join(".")}`,
    "a token over 8 KiB": await signed({ padding: "x".repeat(9000) }),
    "dots and nothing else": `Bearer ${".".repeat(4000)}`,
  };
}

async function badClaims(signed: Forgery["signed"], nowSeconds: number): Promise<Record<string, string>> {
  return {
    "another audience": await signed({ aud: "another-client" }),
    "several audiences without azp": await signed({ aud: ["ephemeral", "another-client"] }),
    "another azp": await signed({ azp: "another-client" }),
    "an expired one": await signed({ iat: nowSeconds - 7200, exp: nowSeconds - 3600 }),
    "no expiry": await signed({ exp: undefined }),
    "an expiry that is a text": await signed({ exp: "2030" }),
    "an expiry beyond all time": await signed({ exp: 1e20 }),
    "no moment of issue": await signed({ iat: undefined }),
    "issued in the future": await signed({ iat: nowSeconds + 3600 }),
    "not valid yet": await signed({ nbf: nowSeconds + 3600 }),
    "no subject": await signed({ sub: undefined }),
    "an empty subject": await signed({ sub: "" }),
  };
}
