import { type ApiToken, isTokenId, TOKEN_VARIABLE, tokenState, valueOwner } from "../../crds/api-token.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import type { Caller } from "../auth/callers.ts";
import { HttpError } from "../http-error.ts";
import { concerning, currentRequestId } from "../request-context.ts";
import { route, type Services } from "../route.ts";
import { toPage } from "../views/page.ts";
import { createToken } from "./create-token.ts";
import { CreatedToken, TokenList, TokenPath, TokenQuery, TokenRecord, TokenRequest, TokenValue } from "./schemas.ts";
import { toTokenRecord } from "./views.ts";

interface Concerned {
  readonly params: { readonly id: string };
  readonly body: { readonly name: string };
}

/** All of them by the owner in person: a token can make, show and end no token. */
const ofTokens = {
  tag: "tokens",
  access: { permission: "tokens:manage", proof: "id_token" },
  rate: "caller",
  envelope: "always",
} as const;
/** What can be no id may be the token itself. */
const auditTargetOf = ({ params }: Pick<Concerned, "params">) => (isTokenId(params.id) ? params.id : "no token's id");

/** Makes a token. */
const makeToken = route({
  ...ofTokens,
  method: "post",
  path: "/api/tokens",
  operationId: "createToken",
  summary: "Create an API token",
  description:
    "Makes a long-lived token for CI/CD and automation, to be sent as `Authorization: Bearer svc_<API_TOKEN>`. It may do what its scopes name, as far as its owner may. Only a user token can create one.",
  body: TokenRequest,
  auditTarget: ({ body }: Pick<Concerned, "body">) => body.name,
  reply: CreatedToken,
  links: { "/api/tokens/{id}": "/id" },
  status: 201,
  refusals: ["ENV_CONFIG_INVALID"],
  refuses: ["conflict"],
})(async ({ body, caller }, platform) => {
  const { token, value } = await createToken(body, caller, platform);
  return { ...toTokenRecord(token, platform.clock.now()), token: value.reveal() };
});

/** A page of tokens, the newest first. */
const listTokens = route({
  ...ofTokens,
  method: "get",
  path: "/api/tokens",
  operationId: "listTokens",
  summary: "List the user's tokens",
  description:
    "The caller's tokens, the newest first; those of everybody for admins who ask for them. Revoked and expired ones stay for 30 days.",
  query: TokenQuery,
  reply: TokenList,
  links: { "/api/tokens/{id}": "/items/0/id" },
  refusals: [],
})(({ query, caller }, { apiTokens, clock }) => {
  const { all = false, ...page } = query;
  if (all && !caller.permissions.has("tokens:all")) {
    throw new HttpError("forbidden", "This needs the permission tokens:all");
  }
  const tokens = apiTokens.list().filter((token) => all || isOwn(token, caller));
  const { items, ...rest } = toPage(tokens.sort(newestFirst), page);
  return { items: items.map((token) => toTokenRecord(token, clock.now())), ...rest };
});

/** Ends a token; ending it again is fine. */
const revokeToken = route({
  ...ofTokens,
  method: "delete",
  path: "/api/tokens/{id}",
  operationId: "revokeToken",
  summary: "Revoke an API token",
  description:
    "Ends a token for good, within a second on every replica, and removes its value. Admins end also those of others.",
  params: TokenPath,
  auditTarget: auditTargetOf,
  reply: TokenRecord,
  refusals: [],
  refuses: ["not-found"],
})(async ({ params, caller }, platform) => {
  const { apiTokens, clock, secretManager, log } = platform;
  const token = await tokenOf(params.id, platform);
  if (!isOwn(token, caller) && !caller.permissions.has("tokens:all")) throw notFound();
  // The token first: that it is of no more use must not hang on the secret manager.
  const revoked = await apiTokens.revoke(token, clock.now());
  if (revoked === undefined) throw notFound();
  if (revoked.spec.keepsValue) {
    await secretManager.remove(valueOwner(revoked), [TOKEN_VARIABLE]).catch((cause: unknown) => {
      log.warn("the value of a revoked API token is still there", { requestId: currentRequestId(), error: cause });
      throw new SecretsUnavailable({ cause });
    });
  }
  return toTokenRecord(revoked, clock.now());
});

/** Shows a token once more, to its owner and nobody else. */
const revealToken = route({
  ...ofTokens,
  method: "get",
  path: "/api/tokens/{id}/value",
  operationId: "getTokenValue",
  summary: "Get a token's value",
  description:
    "The token itself, for its owner alone, as long as it is not revoked. 403 where the installation keeps no values.",
  params: TokenPath,
  auditTarget: auditTargetOf,
  reply: TokenValue,
  refusals: [],
  refuses: ["not-found"],
})(async ({ params, caller }, platform) => {
  if (!platform.settings.api.tokens.revealable)
    throw new HttpError("forbidden", "Values of API tokens are not kept here");
  const token = await tokenOf(params.id, platform);
  if (!isOwn(token, caller) || tokenState(token, platform.clock.now()) === "revoked") throw notFound();
  const stored = await platform.secretManager
    .ensure(valueOwner(token), [{ name: TOKEN_VARIABLE, version: 1 }])
    .catch((cause: unknown) => {
      throw new SecretsUnavailable({ cause });
    });
  const value = stored.get(TOKEN_VARIABLE)?.value;
  if (value === undefined) throw new HttpError("not-found", "The value of this token was not kept");
  return { id: token.metadata.name, value: value.reveal() };
});

/** The token of that id as it is now, whoever's. */
async function tokenOf(id: string, { apiTokens }: Services): Promise<ApiToken> {
  // What can be no id is not worth a question to the cluster.
  const token = isTokenId(id) ? await apiTokens.read(id) : undefined;
  if (token === undefined) throw notFound();
  return concerning(token);
}

const isOwn = ({ spec }: ApiToken, { subject }: Caller) => spec.owner.subject === subject;
/** The same for one that is somebody else's. */
const notFound = () => new HttpError("not-found", "Token not found");

function newestFirst({ metadata: one }: ApiToken, { metadata: other }: ApiToken): number {
  if (one.creationTimestamp !== other.creationTimestamp)
    return one.creationTimestamp < other.creationTimestamp ? 1 : -1;
  return one.name < other.name ? -1 : 1;
}

export const tokenRoutes = [makeToken, listTokens, revokeToken, revealToken] as const;
