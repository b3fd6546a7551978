import type { Settings } from "../../config/settings.ts";
import type { EnvironmentSpec } from "../../crds/environment/ephemeral-environment.ts";
import type { Clock } from "../../operator/kit/time/clock.ts";
import type { ApiTokens } from "../../operator/ports/api-tokens.ts";
import { HttpError } from "../errors.ts";
import { issuerOf, permissionsOf, rolesOf } from "./access.ts";
import { checkVouched } from "./api-tokens.ts";
import { TokenRefused } from "./id-tokens.ts";

interface StoredRights {
  readonly settings: Settings;
  readonly apiTokens: Pick<ApiTokens, "ofOwner">;
  readonly clock: Clock;
}

/**
 * Checks that an environment's owner may still change it, by the newest facts in the owner's API tokens; without
 * tokens, trust in the issuer suffices.
 *
 * @throws HttpError (forbidden)
 */
export function checkStoredRights(owner: EnvironmentSpec["owner"], { settings, apiTokens, clock }: StoredRights): void {
  const issuer = owner && issuerOf(owner.subject, settings);
  if (owner === undefined || issuer === undefined) throw refused();
  const facts = apiTokens.ofOwner(owner.subject).map(({ spec }) => spec.vouched);
  const [newest] = facts.sort((one, other) => Date.parse(other.at) - Date.parse(one.at));
  if (newest === undefined) return;
  const roles = rolesOf({ subject: owner.subject, groups: newest.groups }, settings);
  if (!permissionsOf(roles).has("environments:update")) throw refused();
  try {
    checkVouched(newest, { issuer, settings, now: clock.now() });
  } catch (cause) {
    throw cause instanceof TokenRefused ? refused(cause) : cause;
  }
}

const refused = (cause?: unknown) =>
  new HttpError("forbidden", "The environment's owner may not extend it any more, or has to sign in first", { cause });
