import type { Settings } from "../../config/settings.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { expiresAt, ttlHours } from "../../crds/environment/lifetime.ts";
import { SecretsUnavailable } from "../../crds/errors.ts";
import { extendedTtl, verifyExtension } from "../../crds/notifications/extension-token.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { ApiTokens } from "../../operator/ports/api-tokens.ts";
import { SecretManagerUnavailable } from "../../operator/ports/secret-manager.ts";
import { issuerOf, permissionsOf, rolesOf } from "../auth/access.ts";
import { checkAssertedClaims } from "../auth/api-tokens.ts";
import { TokenRefused } from "../auth/id-tokens.ts";
import { HttpError } from "../errors.ts";
import { addAuditObject, currentRequest } from "../request-context.ts";
import type { Services } from "../services.ts";

/** Extension that a link permits now. */
export interface UsableExtension {
  readonly environment: EphemeralEnvironment;
  /** Expiry in the link. */
  readonly expiresAt: Date;
  /** TTL after the extension, in hours. */
  readonly ttlHours: number;
}

/**
 * Extension by the token of a link, in the name of the owner, who must still have the right.
 *
 * @throws HttpError (not-found) for a foreign or ended token and for a missing environment; (conflict) for a used one,
 * and where nothing can be extended; (forbidden) when the owner may not; SecretsUnavailable, ClusterUnavailable
 */
export async function usableExtension(token: string, services: Services): Promise<UsableExtension> {
  const { settings, clock, environments } = services;
  const grant = verifyExtension(token, await keyOf(services), clock.now());
  const environment = grant && (await environments.find(grant.uid));
  if (grant === undefined || environment?.metadata.uid !== grant.uid) {
    throw new HttpError("not-found", "The link is not valid, or no longer");
  }
  addAuditObject(environment);
  const { owner } = environment.spec;
  currentRequest().linkOwner = owner?.subject;
  if (environment.metadata.deletionTimestamp !== undefined) {
    throw new HttpError("conflict", "The environment is being deleted");
  }
  if (expiresAt(environment).getTime() !== grant.expiresAt.getTime()) {
    throw new HttpError("conflict", "The link was used, or the environment's TTL was changed since it was sent");
  }
  checkStoredRights(owner, services);
  const hours = extendedTtl(ttlHours(environment), grant.addedHours, settings.ttl.maximumHours);
  if (hours === undefined) throw new HttpError("conflict", "The environment has the longest TTL already");
  return { environment, expiresAt: grant.expiresAt, ttlHours: hours };
}

async function keyOf({ extensionKey }: Services) {
  try {
    return await extensionKey();
  } catch (cause) {
    throw cause instanceof SecretManagerUnavailable ? new SecretsUnavailable({ cause }) : cause;
  }
}

interface StoredRights {
  readonly settings: Settings;
  readonly apiTokens: ApiTokens;
  readonly clock: Clock;
}

/**
 * Checks that an environment's owner may still change it, by the newest facts in the owner's API tokens; without
 * tokens, trust in the issuer suffices.
 *
 * @throws HttpError (forbidden)
 */
function checkStoredRights(owner: EnvironmentSpec["owner"], { settings, apiTokens, clock }: StoredRights): void {
  const issuer = owner && issuerOf(owner.subject, settings);
  if (owner === undefined || issuer === undefined) throw refused();
  const facts = apiTokens.ofOwner(owner.subject).map(({ spec }) => spec.assertedClaims);
  const [newest] = facts.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
  if (newest === undefined) return;
  const roles = rolesOf({ subject: owner.subject, groups: newest.groups }, settings);
  if (!permissionsOf(roles).has("environments:update")) throw refused();
  try {
    checkAssertedClaims(newest, { issuer, settings, now: clock.now() });
  } catch (cause) {
    throw cause instanceof TokenRefused ? refused(cause) : cause;
  }
}

const refused = (cause?: unknown) =>
  new HttpError("forbidden", "The environment's owner may not extend it any more, or has to sign in first", { cause });
