import { feature, route } from "../route.ts";
import { CurrentUser, LoginOptions, PasswordResetReply, PasswordResetRequest } from "./schemas.ts";
import { toCurrentUser, toLoginOptions } from "./views.ts";

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
