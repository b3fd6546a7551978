/** Settings of the web console: its address, and its log-in. */
import { type Static, Type } from "typebox";
import { SecretRef } from "../crds/overrides.schema.ts";
import { closed, described } from "../crds/schema.ts";
import { WEB_ORIGIN } from "./api-settings.schema.ts";
import { IssuerUrl, Scopes } from "./issuer.schema.ts";

export const Console = closed(
  {
    publicUrl: Type.String({
      format: WEB_ORIGIN,
      maxLength: 260,
      description:
        "The origin at which browsers reach the platform, such as https://platform.example.com; the console is below its `/console/`. Neither `baseDomain` nor below it, and best of a registered domain that no environment has: browsers take pages of one domain for related.",
    }),
    issuer: Type.Optional(
      described(
        IssuerUrl,
        "The issuer of `api.issuers` at which people log in; may be left out where there is only one.",
      ),
    ),
    clientId: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        "The console's client there, one of the issuer's audiences. Its redirect address is `<publicUrl>/console/auth/callback`, and `<publicUrl>/console/` the one after a log-out.",
    }),
    clientSecret: Type.Optional(
      described(SecretRef, "The client's secret in the secret manager; a public client when left out."),
    ),
    scopes: described(
      Scopes,
      "Requested scopes, `openid` among them. Without a refresh token, for which many issuers need `offline_access`, people log in again when their ID token expires.",
    ),
    authorizationParameters: Type.Record(
      Type.String({ pattern: "^[a-z_]{1,64}$" }),
      Type.String({ minLength: 1, maxLength: 256 }),
      {
        default: { prompt: "consent" },
        maxProperties: 10,
        description:
          "Further parameters of the issuer's log-in page. OpenID Connect wants `prompt: consent` with `offline_access`; `{}` where the issuer needs none, `{access_type: offline, prompt: consent}` at Google.",
      },
    ),
    sessionHours: Type.Integer({
      minimum: 1,
      maximum: 720,
      default: 12,
      description: "Time after which people have to log in again.",
    }),
    keyVersion: Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 1,
      description:
        "Version of the key that seals cookies. The platform makes each key once and keeps it in the secret manager; raised by one, a new key seals, and the one before still opens what it sealed.",
    }),
  },
  { description: "The web console; there is none when left out." },
);
export type Console = Static<typeof Console>;
