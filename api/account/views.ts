import type { Caller } from "../auth/access.ts";
import type { CurrentUser } from "./schemas.ts";

/** The caller, as the credential authenticates them. */
export function toCurrentUser(caller: Caller): CurrentUser {
  const { subject, email, name, roles, permissions, groups, method, token, expiresAt } = caller;
  return {
    id: subject,
    email,
    name,
    roles: [...roles],
    permissions: [...permissions],
    groups: [...groups],
    auth_method: method,
    scopes: token === undefined ? null : [...token.scopes],
    token_id: token?.id ?? null,
    token_expires_at: expiresAt?.toISOString() ?? null,
  };
}
