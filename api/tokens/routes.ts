import type { Static } from "typebox";
import { type ApiToken, isTokenId, TOKEN_VARIABLE, tokenState, valueOwner } from "../../crds/api-token.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import type { Caller } from "../auth/access.ts";
import { HttpError } from "../errors.ts";
import { addAuditObject } from "../request-context.ts";
import { feature, route } from "../route.ts";
import { toPage } from "../schemas/page.ts";
import type { Services } from "../services.ts";
import { issueToken } from "./issue-token.ts";
import { CreatedToken, TokenList, TokenPath, TokenQuery, TokenRecord, TokenRequest, TokenValue } from "./schemas.ts";

/** Only the owner in person, not an API token. */
const access = { permission: "tokens:manage", proof: "id_token" } as const;

/** A text of another form may be the token itself. */
const idOrNothing = ({ params }: { readonly params: Static<typeof TokenPath> }) =>
  isTokenId(params.id) ? params.id : "no token's id";

const createToken = route({
  endpoint: "POST /api/tokens",
  summary: "Create an API token",
  description:
    "Creates a long-lived token for CI/CD and automation, to be sent as `Authorization: Bearer svc_<API_TOKEN>`. It may do what its scopes name, as far as its owner may. Only a user token can create one.",
  access,
  body: TokenRequest,
  auditTarget: ({ body }) => body.name,
  reply: CreatedToken,
  links: { "/api/tokens/{id}": "/id" },
  status: 201,
  errors: ["ENV_CONFIG_INVALID", "conflict"],
})(async ({ body, caller }, services) => {
  const { token, value } = await issueToken(body, caller, services);
  return { ...toTokenRecord(token, services.clock.now()), token: value.reveal() };
});

const listTokens = route({
  endpoint: "GET /api/tokens",
  summary: "List the user's tokens",
  description:
    "The caller's tokens, the newest first; the tokens of all users for admins who ask for them. Revoked and expired ones stay for 30 days.",
  access,
  query: TokenQuery,
  reply: TokenList,
  links: { "/api/tokens/{id}": "/items/0/id" },
})(({ query: { all = false, ...page }, caller }, { apiTokens, clock }) => {
  if (all && !caller.permissions.has("tokens:all")) {
    throw new HttpError("forbidden", "This needs the permission tokens:all");
  }
  const tokens = apiTokens.list().filter((token) => all || isOwn(token, caller));
  return toPage(tokens.sort(newestFirst), page, (token) => toTokenRecord(token, clock.now()));
});

const revokeToken = route({
  endpoint: "DELETE /api/tokens/{id}",
  summary: "Revoke an API token",
  description:
    "Revokes a token for good, within a second on every replica, and removes its value. Admins can revoke the tokens of others, too.",
  access,
  params: TokenPath,
  auditTarget: idOrNothing,
  reply: TokenRecord,
  errors: ["not-found"],
})(async ({ params, caller }, services) => {
  const { apiTokens, clock, secretManager, log } = services;
  const token = await existingToken(params.id, services);
  if (!isOwn(token, caller) && !caller.permissions.has("tokens:all")) throw notFound();
  // The token first: its end must not depend on the secret manager.
  const revoked = await apiTokens.revoke(token, clock.now());
  if (revoked === undefined) throw notFound();
  if (revoked.spec.keepsValue) {
    await secretManager.remove(valueOwner(revoked), [TOKEN_VARIABLE]).catch((cause: unknown) => {
      log.warn("the value of a revoked API token could not be removed", { error: cause });
      throw new SecretsUnavailable({ cause });
    });
  }
  return toTokenRecord(revoked, clock.now());
});

const getTokenValue = route({
  endpoint: "GET /api/tokens/{id}/value",
  summary: "Get a token's value",
  description:
    "The token itself, for its owner alone, as long as it is not revoked. 403 where the installation keeps no values.",
  access,
  params: TokenPath,
  auditTarget: idOrNothing,
  reply: TokenValue,
  errors: ["not-found"],
})(async ({ params, caller }, services) => {
  if (!services.settings.api.tokens.revealable)
    throw new HttpError("forbidden", "Values of API tokens are not kept here");
  const token = await existingToken(params.id, services);
  if (!isOwn(token, caller) || tokenState(token, services.clock.now()) === "revoked") throw notFound();
  const stored = await services.secretManager
    .ensure(valueOwner(token), [{ name: TOKEN_VARIABLE, version: 1 }])
    .catch((cause: unknown) => {
      throw new SecretsUnavailable({ cause });
    });
  const value = stored.get(TOKEN_VARIABLE)?.value;
  if (value === undefined) throw new HttpError("not-found", "The value of this token was not kept");
  return { id: token.metadata.name, value: value.reveal() };
});

async function existingToken(id: string, { apiTokens }: Services): Promise<ApiToken> {
  // Other texts are not worth a request to the API server.
  const token = isTokenId(id) ? await apiTokens.read(id) : undefined;
  if (token === undefined) throw notFound();
  return addAuditObject(token);
}

const isOwn = ({ spec }: ApiToken, { subject }: Caller) => spec.owner.subject === subject;
/** Refusal of an unknown token, and of another user's. */
const notFound = () => new HttpError("not-found", "Token not found");

function newestFirst({ metadata: one }: ApiToken, { metadata: other }: ApiToken): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  return one.name < other.name ? -1 : 1;
}

export const tokenRoutes = feature(
  "tokens",
  { createToken, listTokens, revokeToken, getTokenValue },
  { envelope: "always" },
);

/** Record of a token; never its value. */
function toTokenRecord(token: ApiToken, now: Date): TokenRecord {
  const { metadata, spec, status } = token;
  return {
    id: metadata.name,
    name: spec.name,
    description: spec.description ?? "",
    scopes: [...spec.scopes],
    token_prefix: spec.prefix,
    status: tokenState(token, now),
    created_at: timestamp(metadata.creationTimestamp),
    expires_at: maybe(spec.expiresAt),
    last_used_at: maybe(status?.lastUsedAt),
    revoked_at: maybe(spec.revokedAt),
    owner: { email: spec.owner.email, name: spec.owner.name },
  };
}

const timestamp = (moment: string) => new Date(moment).toISOString();
const maybe = (moment: string | undefined) => (moment === undefined ? null : timestamp(moment));
