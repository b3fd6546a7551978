/** What is settled of the REST interface. */
import { Type } from "typebox";
import { closed, literals } from "../crds/schema.ts";

export const Port = Type.Integer({ minimum: 0, maximum: 65535 });
export const Host = Type.String({ minLength: 1, maxLength: 253 });
/** Keys over plain HTTP could be anybody's, except on this machine. */
const KeyUrl = Type.String({
  pattern: "^(https://[^\\s/]|http://(127\\.0\\.0\\.1|\\[::1\\]|localhost)(:[0-9]+)?(/|$))[^\\s]*$",
  maxLength: 512,
});
/** The format of an origin as browsers send it, so that it is compared letter by letter; its name is what a refusal says. */
export const WEB_ORIGIN =
  "origin as browsers send it, such as https://console.example.com or http://localhost:5173: scheme, host in lower case, and the port unless it is the scheme's own, without a path, a slash at the end or wildcards; http on loopback alone";
const GroupNames = Type.Array(Type.String({ minLength: 1, maxLength: 128 }), { default: [] });
const Issuer = closed({
  issuer: Type.Unsafe<string>({
    ...KeyUrl,
    description: "https (or http on loopback). Compared byte for byte with the token's `iss`.",
  }),
  audience: Type.String({ minLength: 1 }),
  jwksUri: Type.Optional(Type.Unsafe<string>({ ...KeyUrl, description: "Instead of the one that discovery names." })),
  groupsClaim: Type.String({ default: "groups" }),
  algorithms: Type.Array(
    literals(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"]),
    {
      default: ["RS256"],
      minItems: 1,
    },
  ),
});

/** Who sends people the link by which they set a new password; nobody when left out. */
const IdentityProviderChoice = Type.Union(
  [
    closed(
      {
        kind: Type.Literal("google"),
        apiKeyFile: Type.String({ minLength: 1, description: "File with the web API key of the project." }),
        tenantId: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
        continueUrl: Type.Optional(
          Type.String({ pattern: "^https://", maxLength: 512, description: "Where the page of the link leads on to." }),
        ),
      },
      { description: "Google Identity Platform." },
    ),
    closed({ kind: Type.Literal("local"), url: KeyUrl }, { description: "That of the local cluster." }),
  ],
  { description: "Where POST /api/auth/password-reset passes its wishes on to; answered 503 when left out." },
);

const SharedRedis = closed(
  {
    url: Type.String({
      pattern: "^rediss?://[^@/?#\\s]+(/[0-9]{1,4})?$",
      maxLength: 512,
      description: "redis://host:port/database, or rediss:// for TLS; never with credentials.",
    }),
    username: Type.Optional(Type.String({ minLength: 1, maxLength: 128 })),
    passwordFile: Type.Optional(Type.String({ minLength: 1, description: "A file that holds the password alone." })),
    caFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM file of the authority behind its certificate, for rediss://." }),
    ),
  },
  {
    description:
      "Where replicas count requests together; without it, and while it can't be reached, each replica counts for itself.",
  },
);

export const ApiSettings = closed(
  {
    host: Type.Unsafe<string>({ ...Host, default: "127.0.0.1" }),
    port: Type.Unsafe<number>({ ...Port, default: 8080 }),
    trustedProxyHops: Type.Integer({
      minimum: 0,
      default: 0,
      description: "Proxies in front whose X-Forwarded-For is believed.",
    }),
    corsOrigins: Type.Array(Type.String({ format: WEB_ORIGIN, maxLength: 260 }), {
      default: [],
      uniqueItems: true,
      description:
        "Web pages elsewhere that may call the interface from a browser (CORS), by their exact origin; none by default.",
    }),
    settleSeconds: Type.Integer({
      minimum: 0,
      maximum: 20,
      default: 0,
      description: "How long a stopping replica still serves, until everybody in front has noticed.",
    }),
    issuers: Type.Array(Issuer, { default: [] }),
    identityProvider: Type.Optional(IdentityProviderChoice),
    roles: closed(
      { viewer: GroupNames, developer: GroupNames, maintainer: GroupNames, admin: GroupNames },
      { default: {}, description: "Groups of the identity provider that hold each role." },
    ),
    tokens: closed(
      {
        revealable: Type.Boolean({
          default: true,
          description: "False: values of API tokens are never kept, so that nobody is shown one a second time.",
        }),
        confirmedDays: Type.Integer({
          minimum: 1,
          default: 30,
          description: "How long API tokens are good without their owner's having come with an ID token.",
        }),
      },
      { default: {} },
    ),
    limits: closed(
      {
        authenticatedPerMinute: Type.Integer({ minimum: 1, default: 100 }),
        unauthenticatedPerMinute: Type.Integer({ minimum: 1, default: 10 }),
        documentationPerMinute: Type.Integer({ minimum: 1, default: 120 }),
        passwordResetsPerHour: Type.Integer({
          minimum: 1,
          default: 5,
          description: "Of a client address, and of an e-mail address.",
        }),
        redis: Type.Optional(SharedRedis),
      },
      { default: {} },
    ),
  },
  { default: {} },
);
