import { type Static, Type } from "typebox";
import { SCOPES } from "../../crds/api-token.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { PERMISSIONS, ROLES } from "../auth/access.ts";
import { Instant, titled } from "../schemas/fields.ts";

export const CurrentUser = closed(
  {
    id: Type.String({ description: "Issuer and subject of the identity, which decide on ownership." }),
    email: Type.String({ description: "Empty when the identity provider gives none that is verified." }),
    name: Type.String(),
    roles: Type.Array(literals(ROLES)),
    permissions: Type.Array(literals(PERMISSIONS), {
      description: "With an API token those of its owner that its scopes let through.",
    }),
    groups: Type.Array(Type.String()),
    auth_method: literals(["id_token", "api_token"]),
    scopes: Type.Union([Type.Array(literals(SCOPES)), Type.Null()], { description: "null with an ID token." }),
    token_id: Type.Union([Type.String(), Type.Null()], { description: "null with an ID token." }),
    token_expires_at: Type.Union([Instant, Type.Null()], { description: "null: never." }),
  },
  titled("CurrentUser", {
    id: "https://idp.example.com#248289761001",
    email: "dev@example.com",
    name: "Dev",
    roles: ["viewer"],
    permissions: ["environments:read", "configs:read", "repos:read", "observability:read", "insights:read"],
    groups: ["shop"],
    auth_method: "id_token",
    scopes: null,
    token_id: null,
    token_expires_at: "2026-06-01T13:00:00.000Z",
  }),
);
export type CurrentUser = Static<typeof CurrentUser>;

const LoginFlow = literals(["loopback", "device"]);
export const LoginOptions = closed(
  {
    issuers: Type.Array(
      closed({
        issuer: Type.String({
          description: "The OpenID Connect issuer; `/.well-known/openid-configuration` below it has its endpoints.",
        }),
        client_id: Type.String({ description: "The id of a public client: it has no secret." }),
        flows: Type.Array(LoginFlow, {
          description:
            "`loopback`: authorization code with PKCE, coming back to 127.0.0.1 at any port; `device`: the device authorization grant. The first one unless the user chooses.",
        }),
        scopes: Type.Array(Type.String(), { description: "Scopes to request." }),
      }),
      { description: "Issuers whose settings permit log-ins of programs; none: programs need an API token." },
    ),
    console_url: Type.Union([Type.String(), Type.Null()], { description: "The web console; null when there is none." }),
  },
  titled("LoginOptions", {
    issuers: [
      {
        issuer: "https://idp.example.com",
        client_id: "ephemeral-environments-cli",
        flows: ["loopback", "device"],
        scopes: ["openid", "email", "profile", "offline_access"],
      },
    ],
    console_url: "https://platform.example.com/console/",
  }),
);
export type LoginOptions = Static<typeof LoginOptions>;

export const PasswordResetRequest = closed(
  {
    email: Type.String({
      minLength: 3,
      maxLength: 254,
      pattern: '^[^\\s@<>"(),;:\\\\\\[\\]]+@[^\\s@<>"(),;:\\\\\\[\\]]+$',
      "x-refusal": "must be an e-mail address",
      description: "Address for the link, if there is such an account.",
    }),
  },
  titled("PasswordResetRequest", { email: "dev@example.test" }),
);

export const PasswordResetReply = closed(
  { message: Type.String() },
  titled("PasswordResetReply", { message: "If there is such an account, a link is on its way to it" }),
);
