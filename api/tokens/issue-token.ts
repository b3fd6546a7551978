import {
  type ApiToken,
  type ApiTokenSpec,
  TOKEN_VARIABLE,
  tokenOf,
  tokenTraits,
  valueOwner,
} from "../../crds/api-token.ts";
import { DAY_MS } from "../../crds/durations.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import { Sensitive } from "../../crds/sensitive.ts";
import { type Caller, scopesBeyond } from "../auth/access.ts";
import { assertedClaimsOf } from "../auth/callers.ts";
import { HttpError } from "../errors.ts";
import { addAuditObject } from "../request-context.ts";
import type { Services } from "../services.ts";
import type { TokenRequest } from "./schemas.ts";

const TOKEN_BYTES = 32;
/** Revoked tokens count while they are listed: otherwise issuing and revoking would fill the store. */
const MOST_OF_ONE_OWNER = 200;

/**
 * Issues a token to the caller. Its value also goes to the secret manager unless the settings forbid that; if that
 * write fails, the token is removed again.
 *
 * @throws HttpError (forbidden) for a scope that the caller lacks, (conflict) for too many tokens; ClusterUnavailable,
 * SecretsUnavailable
 */
export async function issueToken(body: TokenRequest, caller: Caller, services: Services) {
  checkScopes(body, caller);
  // Throws while the cache is incomplete, so the count is complete.
  const own = services.apiTokens.list().filter(({ spec }) => spec.owner.subject === caller.subject);
  if (own.length >= MOST_OF_ONE_OWNER) {
    throw new HttpError(
      "conflict",
      `A user can have at most ${MOST_OF_ONE_OWNER} API tokens; revoked ones count for 30 days`,
    );
  }
  const value = new Sensitive(tokenOf(services.randomBytes(TOKEN_BYTES)));
  const token = addAuditObject(await services.apiTokens.create(specOf(value, body, { caller, services })));
  if (token.spec.keepsValue) await keepValue(token, value, services);
  return { token, value };
}

function checkScopes({ scopes }: TokenRequest, { permissions }: Caller): void {
  const beyond = scopesBeyond(permissions, scopes);
  if (beyond.length > 0)
    throw new HttpError("forbidden", `These scopes need permissions that you don't have: ${beyond.join(", ")}`);
}

function specOf(
  value: Sensitive,
  body: TokenRequest,
  { caller, services }: { caller: Caller; services: Services },
): ApiTokenSpec {
  const { tokenHash, prefix } = tokenTraits(value.reveal());
  const { name, description, scopes, expires_in_days: days } = body;
  const endMs = services.clock.now().getTime() + (days ?? 0) * DAY_MS;
  return {
    tokenHash,
    prefix,
    name,
    scopes: [...scopes],
    ...(description ? { description } : {}),
    owner: { subject: caller.subject, email: caller.email, name: caller.name },
    assertedClaims: assertedClaimsOf(caller),
    ...(days === undefined ? {} : { expiresAt: new Date(endMs).toISOString() }),
    ...(services.settings.api.tokens.revealable ? { keepsValue: true } : {}),
  };
}

async function keepValue(token: ApiToken, value: Sensitive, { secretManager, apiTokens, log }: Services) {
  try {
    await secretManager.ensure(valueOwner(token), [{ name: TOKEN_VARIABLE, version: 1, generate: () => value }]);
  } catch (cause) {
    const facts = { token: token.metadata.name };
    log.warn("the value of an API token could not be written", { ...facts, error: cause });
    // If that also fails, the token is harmless: its value was never returned.
    await apiTokens.remove(token).catch((error: unknown) => {
      log.warn("an API token without a value could not be removed", { ...facts, error });
    });
    throw new SecretsUnavailable({ cause });
  }
}
