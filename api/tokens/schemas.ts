import { type Static, Type } from "typebox";
import { SCOPES, TOKEN_DESCRIPTION_MAX_LENGTH, TOKEN_NAME_MAX_LENGTH } from "../../crds/api-token.schema.ts";
import { closed, literals } from "../../crds/schema.ts";
import { Instant, idPath, titled } from "../schemas/fields.ts";
import { PAGE, pageOf } from "../schemas/page.ts";

/** Ten years; a token without the field never expires. */
const MOST_DAYS = 3650;

const EXAMPLE_ID = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b";
const EXAMPLE_TOKEN = "svc_7Qx0bT3mWnYpR5sUvA1cDeFgHiJkLmNoPqRsTuVwXyZ";

const Scopes = Type.Array(
  literals(SCOPES, {
    description:
      "ENV_CREATE (or environments:create): create and manage environments; ENV_READ (or environments:read): read environments; CONFIG_READ: read configuration data; CONFIG_WRITE: manage configuration sets.",
  }),
  { description: "Rights of the token, as far as its owner has them; as given in the request." },
);

/** No control characters, because lists and logs show it. */
const LINE = {
  pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
  "x-refusal": "must be one line without control characters",
};

export const TokenRequest = closed(
  {
    name: Type.String({
      ...LINE,
      minLength: 1,
      maxLength: TOKEN_NAME_MAX_LENGTH,
      description: "A name for people; need not be unique.",
    }),
    description: Type.Optional(Type.String({ ...LINE, maxLength: TOKEN_DESCRIPTION_MAX_LENGTH })),
    scopes: Type.Unsafe<Static<typeof Scopes>>({ ...Scopes, minItems: 1, maxItems: SCOPES.length, uniqueItems: true }),
    expires_in_days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: MOST_DAYS, description: "The token is good for ever when left out." }),
    ),
  },
  titled("TokenRequest", {
    name: "CI",
    description: "Pipelines of the shop",
    scopes: ["ENV_CREATE", "ENV_READ"],
    expires_in_days: 90,
  }),
);
export type TokenRequest = Static<typeof TokenRequest>;

export const TokenPath = idPath("The token's id.", EXAMPLE_ID);

export const TokenQuery = closed({
  ...PAGE,
  all: Type.Optional(
    Type.Boolean({ default: false, description: "The tokens of all users; needs the permission tokens:all." }),
  ),
});

const record = {
  id: Type.String({ examples: [EXAMPLE_ID] }),
  name: Type.String(),
  description: Type.String({ description: "Empty when none was given." }),
  scopes: Scopes,
  token_prefix: Type.String({ description: "Beginning of the token." }),
  status: literals(["active", "expired", "revoked"], { title: "TokenStatus" }),
  created_at: Instant,
  expires_at: Type.Union([Instant, Type.Null()], { description: "null: never." }),
  last_used_at: Type.Union([Instant, Type.Null()], { description: "To the minute; null: not yet." }),
  revoked_at: Type.Union([Instant, Type.Null()]),
  owner: closed({ email: Type.String(), name: Type.String() }, { title: "TokenOwner" }),
};

const example = {
  id: EXAMPLE_ID,
  name: "CI",
  description: "Pipelines of the shop",
  scopes: ["ENV_CREATE", "ENV_READ"],
  token_prefix: EXAMPLE_TOKEN.slice(0, 10),
  status: "active",
  created_at: "2026-06-01T12:00:00.000Z",
  expires_at: "2026-08-30T12:00:00.000Z",
  last_used_at: null,
  revoked_at: null,
  owner: { email: "dev@example.com", name: "Dev" },
};

export const TokenRecord = closed(record, { title: "Token", examples: [example] });
export type TokenRecord = Static<typeof TokenRecord>;

export const CreatedToken = closed(
  {
    ...record,
    token: Type.String({ description: "The token itself, to be sent after `Bearer ` in the Authorization header." }),
  },
  titled("CreatedToken", { ...example, token: EXAMPLE_TOKEN }),
);

export const TokenList = pageOf(TokenRecord, { title: "TokenList" });

export const TokenValue = closed(
  { id: Type.String(), value: Type.String({ description: "The token itself." }) },
  titled("TokenValue", { id: EXAMPLE_ID, value: EXAMPLE_TOKEN }),
);
