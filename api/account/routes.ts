import type { Settings } from "../../config/settings.ts";
import type { Caller } from "../auth/access.ts";
import { feature, route } from "../route.ts";
import { CurrentUser, LoginOptions, PasswordResetReply, PasswordResetRequest } from "./schemas.ts";

const getCurrentUser = route({
  endpoint: "GET /api/auth/user",
  summary: "Current user info",
  description: "The caller as the credential authenticates them, and their permissions with it.",
  access: "authenticated",
  reply: CurrentUser,
})(({ caller }) => toCurrentUser(caller));

const getLoginOptions = route({
  endpoint: "GET /api/auth/login-options",
  summary: "Options for a log-in",
  description:
    "The issuers at which programs without a secret log in for an ID token, and the address of the web console. Counted by client address, together with the console's pages: 600 requests a minute, where the installation sets no other number.",
  access: "public",
  rate: "page",
  only: "v2",
  reply: LoginOptions,
})((_input, { settings }) => toLoginOptions(settings));

const requestPasswordReset = route({
  endpoint: "POST /api/auth/password-reset",
  summary: "Ask for a new password",
  description:
    "Sends a link for a new password to the address. The answer is the same, after the same time, whether or not the account exists. Each client address has 5 requests an hour, where the installation sets no other number, and `X-RateLimit-*` count them; an e-mail address gets as many mails an hour, and the answer beyond that is the same.",
  access: "public",
  budget: "passwordReset",
  body: PasswordResetRequest,
  // Private, also from readers of the audit trail.
  auditTarget: () => "an e-mail address",
  reply: PasswordResetReply,
  errors: ["ENV_CONFIG_INVALID", "unavailable"],
})(async ({ body }, { passwordResets }) => {
  await passwordResets.request(body.email);
  return { message: "If there is such an account, a link is on its way to it" };
});

export const accountRoutes = feature(
  "account",
  { getCurrentUser, getLoginOptions, requestPasswordReset },
  { envelope: "always" },
);

/** Caller, as the credential authenticates them. */
function toCurrentUser(caller: Caller): CurrentUser {
  const { subject, email, name, roles, permissions, groups, method, token, expiresAt } = caller;
  return {
    id: subject,
    email,
    name,
    roles: [...roles],
    permissions: [...permissions],
    groups: [...groups],
    auth_method: method,
    scopes: token === undefined ? null : [...token.scopes],
    token_id: token?.id ?? null,
    token_expires_at: expiresAt?.toISOString() ?? null,
  };
}

/** Ways to log in: at issuers whose settings permit it for programs, and at the console. */
function toLoginOptions({ api, console }: Settings): LoginOptions {
  return {
    issuers: api.issuers.flatMap(({ issuer, commandLine }) => {
      if (commandLine === undefined) return [];
      const { clientId, flows, scopes } = commandLine;
      return [{ issuer, client_id: clientId, flows: [...flows], scopes: [...scopes] }];
    }),
    console_url: console === undefined ? null : `${console.publicUrl}/console/`,
  };
}
