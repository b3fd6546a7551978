/** Issuers of accepted ID tokens, and their users' roles. */
import { type Static, Type } from "typebox";
import { CLAIM_MAX_LENGTH, MOST_CLAIMS } from "../crds/api-token.schema.ts";
import { closed, described, literals } from "../crds/schema.ts";

/** Keys over plain HTTP could be forged, except on this machine. */
const HTTPS_OR_LOOPBACK = "^(https://[^\\s/?#]|http://(127\\.0\\.0\\.1|\\[::1\\]|localhost)(:[0-9]+)?(/|$))";
/** URL of keys, or of the service that signs with them. */
export const KeyUrl = Type.String({ pattern: `${HTTPS_OR_LOOPBACK}[^\\s]*$`, maxLength: 512 });
/** Neither query nor fragment: https://openid.net/specs/openid-connect-core-1_0.html#IDToken, and a subject is `<issuer>#<sub>`. */
export const IssuerUrl = Type.String({
  pattern: `${HTTPS_OR_LOOPBACK}[^\\s?#]*$`,
  maxLength: 512,
  description: "https (or http on loopback). Compared byte for byte with the token's `iss`.",
});
const groupsOf = (role: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 128 }), {
    default: [],
    description: `Groups whose users are ${role}.`,
  });

const Audience = Type.String({ minLength: 1, maxLength: 512 });

/** https://www.rfc-editor.org/rfc/rfc6749#appendix-A.4 */
const SCOPE = "^[\\x21\\x23-\\x5B\\x5D-\\x7E]+$";

/** Requested scopes of a log-in. */
export const Scopes = Type.Array(Type.String({ pattern: SCOPE, maxLength: 255 }), {
  default: ["openid", "email", "profile", "offline_access"],
  maxItems: 32,
  uniqueItems: true,
});

/** Log-ins of programs on people's own machines. Their client has no secret, because none could be kept there. */
const CommandLine = closed(
  {
    clientId: Type.String({
      minLength: 1,
      maxLength: 512,
      description: "The id of a public client of the issuer, one of the audiences.",
    }),
    flows: Type.Array(literals(["loopback", "device"]), {
      default: ["loopback"],
      minItems: 1,
      uniqueItems: true,
      description:
        "`loopback`: a browser on the same machine, which comes back to 127.0.0.1 at any port (RFC 8252); `device`: a browser anywhere (RFC 8628), which can be used for phishing. The first is the one that is used unless the user chooses.",
    }),
    scopes: described(
      Scopes,
      "Requested scopes, `openid` among them; without `offline_access` many issuers give no refresh token.",
    ),
  },
  {
    description:
      "Log-in of the command line, shown by `GET /api/v2/auth/login-options`; only API tokens work when left out.",
  },
);

/** An issuer of ID tokens (OpenID Connect). */
export const Issuer = closed({
  issuer: IssuerUrl,
  audience: Type.Union([Audience, Type.Array(Audience, { minItems: 1, maxItems: 20, uniqueItems: true })], {
    description: "Audience of the tokens: their `aud`, or a list of accepted ones.",
  }),
  commandLine: Type.Optional(CommandLine),
  jwksUri: Type.Optional(described(KeyUrl, "Instead of the URL from discovery.")),
  algorithms: Type.Array(
    literals(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]),
    { default: ["RS256"], minItems: 1, description: "The signatures that are accepted." },
  ),
  requiredClaims: Type.Record(
    Type.String(),
    Type.Array(Type.String({ minLength: 1, maxLength: CLAIM_MAX_LENGTH }), { minItems: 1 }),
    {
      default: {},
      maxProperties: MOST_CLAIMS,
      description:
        "Claims that every ID token must carry, each with one of its values (in a list: among others), such as hd: [example.com]. Other tokens are refused. Name claims that the issuer sets, not its users.",
    },
  ),
  groupsClaim: Type.String({ default: "groups", description: "The claim that lists the groups of a user." }),
  groupsPrefix: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9._-]{1,32}:$",
      description:
        "Put before the name of each group of its users, here and wherever groups are named. Required, each its own, as soon as there are several issuers.",
    }),
  ),
  roles: closed(
    {
      viewer: groupsOf("viewers"),
      developer: groupsOf("developers"),
      maintainer: groupsOf("maintainers"),
      admin: groupsOf("admins"),
    },
    {
      default: {},
      description: "Groups that hold each role, with `groupsPrefix`. They count for users of this issuer alone.",
    },
  ),
  defaultRole: Type.Optional(
    literals(["viewer", "developer"], {
      description: "The role of users without one by a group; none when left out. Needs `requiredClaims`.",
    }),
  ),
});
export type Issuer = Static<typeof Issuer>;
