import type { Settings } from "../../config/settings.ts";
import { type Permission, permissionsOf, type Role, rolesOf } from "./access.ts";

/** Who is asking, as the credential proves it. */
export interface Caller {
  /** `<issuer>#<sub>`: the identity, and all that ownership is decided by. */
  readonly subject: string;
  /** For people; empty when the issuer gives none, or says that it is not verified. */
  readonly email: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly roles: readonly Role[];
  readonly permissions: ReadonlySet<Permission>;
}

/** What a verified ID token says. */
export interface Identity {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string;
  readonly name: string;
  readonly groups: readonly string[];
}

/** The caller whom an identity makes under these settings. */
export function callerOf({ issuer, sub, email, name, groups }: Identity, settings: Settings): Caller {
  const roles = rolesOf(groups, settings.api.roles);
  return { subject: `${issuer}#${sub}`, email, name, groups, roles, permissions: permissionsOf(roles) };
}
