import { route } from "../route.ts";
import { PasswordResetReply, PasswordResetRequest } from "./password-reset.schemas.ts";

/** Has a link for a new password sent; the answer is the same for every address, and comes before anything is sent. */
const requestPasswordReset = route({
  method: "post",
  path: "/api/auth/password-reset",
  operationId: "requestPasswordReset",
  summary: "Ask for a new password",
  description:
    "Has a link for a new password sent to the address. The answer is the same, after the same time, whether or not the account exists. A client address may ask 5 times an hour, where the installation sets no other number, and `X-RateLimit-*` tell of that hour; an e-mail address gets as many mails an hour, and the answer to what is beyond is the same.",
  tag: "account",
  access: "public",
  rate: "caller",
  budget: "passwordReset",
  envelope: "always",
  body: PasswordResetRequest,
  // Who asks for whom is nobody's business, not even the audit trail's.
  auditTarget: () => "an e-mail address",
  reply: PasswordResetReply,
  refusals: ["ENV_CONFIG_INVALID"],
  refuses: ["unavailable"],
})(async ({ body }, { passwordResets }) => {
  await passwordResets.request(body.email);
  return { message: "If there is such an account, a link is on its way to it" };
});

export const passwordResetRoutes = [requestPasswordReset] as const;
