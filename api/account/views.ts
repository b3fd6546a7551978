import type { Settings } from "../../config/settings.ts";
import type { Caller } from "../auth/access.ts";
import type { CurrentUser, LoginOptions } from "./schemas.ts";

/** Caller, as the credential authenticates them. */
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

/** Ways to log in: at issuers whose settings permit it for programs, and at the console. */
export function toLoginOptions({ api, console }: Settings): LoginOptions {
  return {
    issuers: api.issuers.flatMap(({ issuer, commandLine }) => {
      if (commandLine === undefined) return [];
      const { clientId, flows, scopes } = commandLine;
      return [{ issuer, client_id: clientId, flows: [...flows], scopes: [...scopes] }];
    }),
    console_url: console === undefined ? null : `${console.publicUrl}/console/`,
  };
}
