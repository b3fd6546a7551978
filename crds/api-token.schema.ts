import { type Static, Type } from "typebox";
import { EnvironmentSpec, immutable } from "./environment/ephemeral-environment.schema.ts";
import { type CelRule, literals, map, rules, text, timestamp } from "./schema.ts";

export const SCOPES = [
  "ENV_CREATE",
  "ENV_READ",
  "CONFIG_READ",
  "CONFIG_WRITE",
  "environments:create",
  "environments:read",
] as const;
export type Scope = (typeof SCOPES)[number];

export const TOKEN_NAME_MAX_LENGTH = 100;
export const TOKEN_DESCRIPTION_MAX_LENGTH = 500;
/** Limits of an ID token's stored groups, and of their names. */
export const MOST_GROUPS = 500;
export const GROUP_MAX_LENGTH = 128;
/** Limits of an issuer's required claims, and of their values. */
export const MOST_CLAIMS = 16;
export const CLAIM_MAX_LENGTH = 256;

const { owner } = EnvironmentSpec.properties;

const AssertedClaims = Type.Object(
  {
    groups: Type.Array(Type.String({ minLength: 1, maxLength: GROUP_MAX_LENGTH }), {
      maxItems: MOST_GROUPS,
      "x-kubernetes-list-type": "set",
      description: "The groups of the owner.",
    }),
    claims: Type.Optional(
      map(Type.String({ minLength: 1, maxLength: CLAIM_MAX_LENGTH }), {
        maxProperties: MOST_CLAIMS,
        description: "The accepted value of each claim that the settings required.",
      }),
    ),
    at: timestamp("Time of issue of that ID token."),
  },
  {
    description: "The last claims of the identity provider about the owner, from an ID token of the owner.",
    ...rules({ rule: "self.at >= oldSelf.at", message: "an older ID token never overrides a newer one" }),
  },
);

const FIXED = ["tokenHash", "prefix", "name", "description", "scopes", "owner", "expiresAt", "keepsValue"] as const;
export const ApiTokenSpec = Type.Object(
  {
    tokenHash: Type.String({
      minLength: 64,
      maxLength: 64,
      pattern: "^[0-9a-f]+$",
      description: "SHA-256 of the token, in hexadecimal digits. The token itself is in no resource.",
    }),
    prefix: text(16, "The beginning of the token, to recognise it."),
    name: text(TOKEN_NAME_MAX_LENGTH, "The name that its owner gave it.", { minLength: 1 }),
    description: Type.Optional(text(TOKEN_DESCRIPTION_MAX_LENGTH, "Purpose of the token, in its owner's words.")),
    scopes: Type.Array(literals(SCOPES), {
      minItems: 1,
      maxItems: SCOPES.length,
      "x-kubernetes-list-type": "set",
      description: "Rights of the token; both spellings of a scope mean the same.",
    }),
    owner: Type.Unsafe<NonNullable<Static<typeof owner>>>({ ...owner, description: "Owner of the token." }),
    assertedClaims: AssertedClaims,
    expiresAt: Type.Optional(timestamp("Expiry of the token; none when left out.")),
    keepsValue: Type.Optional(Type.Boolean({ description: "True when the secret manager has the value." })),
    revokedAt: Type.Optional(timestamp("Time of the revocation; the token is refused since.")),
  },
  {
    description: "Facts about the token; only the REST interface writes them.",
    ...rules(...FIXED.map((field) => immutable(field, `spec.${field} can't be changed`)), {
      rule: "!has(oldSelf.revokedAt) || (has(self.revokedAt) && self.revokedAt == oldSelf.revokedAt)",
      message: "a revoked token stays revoked",
    }),
  },
);
export type ApiTokenSpec = Static<typeof ApiTokenSpec>;

export const ApiTokenStatus = Type.Object(
  {
    lastUsedAt: Type.Optional(timestamp("Time of the last accepted use, to the minute.")),
  },
  { description: "Use of the token; only the REST interface writes it." },
);
export type ApiTokenStatus = Static<typeof ApiTokenStatus>;

/** Digits of the hash in a token's name; enough to be unique. */
export const TOKEN_ID_LENGTH = 40;

export const apiTokenRootRules: readonly CelRule[] = [
  {
    rule: `self.metadata.name == self.spec.tokenHash.substring(0, ${TOKEN_ID_LENGTH})`,
    message: `a token is named by the first ${TOKEN_ID_LENGTH} digits of its hash`,
  },
];
