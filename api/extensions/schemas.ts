import { type Static, Type } from "typebox";
import { EXTENSION_TOKEN_MAX_LENGTH, EXTENSION_TOKEN_PATTERN } from "../../crds/notifications/extension-token.ts";
import { closed } from "../../crds/schema.ts";
import { Instant } from "../schemas/fields.ts";

export const ExtensionPath = closed({
  token: Type.String({
    minLength: 1,
    maxLength: EXTENSION_TOKEN_MAX_LENGTH,
    pattern: EXTENSION_TOKEN_PATTERN,
    description: "The token of the link in the e-mail.",
    examples: [`${"e".repeat(40)}.${"x".repeat(43)}`],
  }),
});

export const ExtensionReport = closed(
  {
    environment_name: Type.String({ description: "The environment that the link is for." }),
    expires_at: Type.Unsafe<string>({ ...Instant, description: "Time of the expiry." }),
    ttl_hours: Type.Integer({ description: "TTL." }),
    extended_until: Type.Unsafe<string>({
      ...Instant,
      description: "Time of the expiry after the extension; after it the same as `expires_at`.",
    }),
    extended: Type.Boolean({ description: "True when this call extended it." }),
  },
  {
    title: "ExtensionReport",
    examples: [
      {
        environment_name: "shop-test",
        expires_at: "2026-06-02T12:00:00.000Z",
        ttl_hours: 24,
        extended_until: "2026-06-03T12:00:00.000Z",
        extended: false,
      },
    ],
  },
);
export type ExtensionReport = Static<typeof ExtensionReport>;
