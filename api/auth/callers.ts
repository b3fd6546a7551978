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
  /** What proved it. Only an ID token shows that the person is here now. */
  readonly method: "id_token" | "api_token";
  /** When the proof ends; an API token may be good for ever. */
  readonly expiresAt: Date | undefined;
}

/** What a verified ID token says. */
export interface Identity {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string;
  readonly name: string;
  readonly groups: readonly string[];
  readonly expiresAt: Date;
}

/** The caller whom an identity makes under these settings. */
export function callerOf({ issuer, sub, ...person }: Identity, settings: Settings): Caller {
  const roles = rolesOf(person.groups, settings.api.roles);
  return { ...person, subject: `${issuer}#${sub}`, roles, permissions: permissionsOf(roles), method: "id_token" };
}
