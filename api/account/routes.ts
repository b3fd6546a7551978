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

/** Facts that a program needs before it has a credential. */
const getLoginOptions = route({
  endpoint: "GET /api/auth/login-options",
  summary: "How to log in",
  description:
    "The issuers at which programs without a secret log in for an ID token, and the address of the web console. Counted by client address, together with the console's pages: 600 requests a minute, where the installation sets no other number.",
  access: "public",
  rate: "page",
  only: "v2",
  reply: LoginOptions,
})((_input, { settings }) => toLoginOptions(settings));

/** Requests a link for a new password; the answer is the same for every address, and precedes the mail. */
const requestPasswordReset = route({
  endpoint: "POST /api/auth/password-reset",
  summary: "Ask for a new password",
  description:
    "Has a link for a new password sent to the address. The answer is the same, after the same time, whether or not the account exists. A client address may ask 5 times an hour, where the installation sets no other number, and `X-RateLimit-*` tell of that hour; an e-mail address gets as many mails an hour, and the answer to what is beyond is the same.",
  access: "public",
  budget: "passwordReset",
  body: PasswordResetRequest,
  // The address is private, also from readers of the audit trail.
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
