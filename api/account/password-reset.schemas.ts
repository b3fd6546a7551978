/** The request for a new password. */
import { Type } from "typebox";
import { closed } from "../../crds/schema.ts";

export const PasswordResetRequest = closed(
  {
    email: Type.String({
      minLength: 3,
      maxLength: 254,
      pattern: '^[^\\s@<>"(),;:\\\\\\[\\]]+@[^\\s@<>"(),;:\\\\\\[\\]]+$',
      "x-refusal": "must be an e-mail address",
      description: "Where the link is sent, if there is such an account.",
    }),
  },
  { title: "PasswordResetRequest", examples: [{ email: "dev@example.test" }] },
);

export const PasswordResetReply = closed(
  { message: Type.String() },
  { title: "PasswordResetReply", examples: [{ message: "If there is such an account, a link is on its way to it" }] },
);
