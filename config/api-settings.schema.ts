import { Type } from "typebox";
import { closed, described } from "../crds/schema.ts";
import { Issuer, KeyUrl } from "./issuer.schema.ts";

export const Port = Type.Integer({ minimum: 0, maximum: 65535 });
export const Host = Type.String({ minLength: 1, maxLength: 253 });
/**
 * Format of an origin as browsers send it, so that it is compared letter by letter; its name is the text of the error.
 */
export const WEB_ORIGIN =
  "origin as browsers send it, such as https://console.example.com or http://localhost:5173: scheme, host in lower case, and the port unless it is the scheme's own, without a path, a slash at the end or wildcards; http on loopback alone";

/** Identity provider that sends links for new passwords, if any. */
const IdentityProviderChoice = Type.Union(
  [
    closed(
      {
        kind: Type.Literal("google"),
        apiKeyFile: Type.String({ minLength: 1, description: "File with the web API key of the project." }),
        tenantId: Type.Optional(
          Type.String({
            minLength: 1,
            maxLength: 128,
            description: "The tenant of the users, where there are several.",
          }),
        ),
        continueUrl: Type.Optional(
          Type.String({ pattern: "^https://", maxLength: 512, description: "Page that the link leads to." }),
        ),
      },
      { description: "Google Identity Platform." },
    ),
    closed(
      { kind: Type.Literal("local"), url: described(KeyUrl, "Address.") },
      { description: "The identity provider of the local cluster." },
    ),
  ],
  {
    description: "The service to which POST /api/auth/password-reset passes its requests; answered 503 when left out.",
  },
);

const SharedRedis = closed(
  {
    url: Type.String({
      pattern: "^rediss?://[^@/?#\\s]+(/[0-9]{1,4})?$",
      maxLength: 512,
      description: "redis://host:port/database, or rediss:// for TLS; never with credentials.",
    }),
    username: Type.Optional(
      Type.String({ minLength: 1, maxLength: 128, description: "User of Redis; its default user when left out." }),
    ),
    passwordFile: Type.Optional(Type.String({ minLength: 1, description: "A file that holds the password alone." })),
    caFile: Type.Optional(
      Type.String({ minLength: 1, description: "PEM file of the authority behind its certificate, for rediss://." }),
    ),
  },
  {
    description:
      "Counter of requests that replicas share; without it, and while it can't be reached, each replica counts for itself.",
  },
);

export const ApiSettings = closed(
  {
    host: Type.Unsafe<string>({ ...Host, default: "127.0.0.1", description: "The address that is listened at." }),
    port: Type.Unsafe<number>({ ...Port, default: 8080, description: "The port that is listened at." }),
    trustedProxyHops: Type.Integer({
      minimum: 0,
      default: 0,
      description: "Number of proxies in front that are trusted in X-Forwarded-For.",
    }),
    corsOrigins: Type.Array(Type.String({ format: WEB_ORIGIN, maxLength: 260 }), {
      default: [],
      uniqueItems: true,
      description:
        "Origins of web pages that may call the interface from a browser (CORS), compared exactly; none by default.",
    }),
    trustedProxies: Type.Array(Type.String({ format: "cidr" }), {
      default: [],
      description:
        "Address blocks of those proxies: other addresses are not believed. Without any, every client of the port counts as a proxy, so that only proxies may be able to reach it.",
    }),
    settleSeconds: Type.Integer({
      minimum: 0,
      maximum: 20,
      default: 0,
      description:
        "Time for which a stopping replica still serves, until load balancers have noticed; up to three times as long while requests come.",
    }),
    issuers: Type.Array(Issuer, {
      default: [],
      description: "Issuers of accepted ID tokens (OpenID Connect); without one, signing in is not possible.",
    }),
    identityProvider: Type.Optional(IdentityProviderChoice),
    tokens: closed(
      {
        revealable: Type.Boolean({
          default: true,
          description: "False: values of API tokens are not kept, so that none can be shown a second time.",
        }),
        confirmedDays: Type.Integer({
          minimum: 1,
          default: 30,
          description: "Time for which API tokens are valid after their owner's last sign-in with an ID token.",
        }),
      },
      { default: {} },
    ),
    limits: closed(
      {
        authenticatedPerMinute: Type.Integer({
          minimum: 1,
          default: 100,
          description: "Requests of a known caller: an API token, else a person.",
        }),
        ownerPerMinute: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              "Requests of a person with all of their API tokens and ID tokens together; five times authenticatedPerMinute when left out.",
          }),
        ),
        unauthenticatedPerMinute: Type.Integer({
          minimum: 1,
          default: 10,
          description: "Requests of an address without a good credential.",
        }),
        documentationPerMinute: Type.Integer({
          minimum: 1,
          default: 120,
          description: "Requests of an address for the documentation.",
        }),
        pagesPerMinute: Type.Integer({
          minimum: 1,
          default: 600,
          description: "Requests of an address for the console, the command line and how to log in.",
        }),
        webhooksPerMinute: Type.Integer({
          minimum: 1,
          default: 1000,
          description: "Per client address: generic webhooks and events of environments.",
        }),
        webhooksPerProjectPerMinute: Type.Integer({
          minimum: 1,
          default: 500,
          description: "Verified webhooks of repository and pipeline hosts, by the repository that they are about.",
        }),
        refusedWebhooksPerMinute: Type.Integer({
          minimum: 1,
          default: 100,
          description:
            "Webhooks of an address that repository and pipeline hosts did not sign: beyond, no webhook of the address is read. Hosts may share addresses with others, so that fewer would let strangers keep webhooks away.",
        }),
        passwordResetsPerHour: Type.Integer({
          minimum: 1,
          default: 5,
          description: "Per client address, and per e-mail address.",
        }),
        redis: Type.Optional(SharedRedis),
      },
      { default: {} },
    ),
  },
  { default: {} },
);
