import type { Settings } from "../../config/settings.ts";
import type { AssertedClaims } from "../../operator/ports/api-tokens.ts";
import { type Caller, permissionsOf, rolesOf } from "./access.ts";

/** Contents of a verified ID token. */
export interface Identity {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string;
  readonly name: string;
  /** Groups with the issuer's prefix. */
  readonly groups: readonly string[];
  /** Accepted value of each required claim. */
  readonly claims: Readonly<Record<string, string>>;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Caller of an identity, with roles and permissions by the settings. */
export function callerOf({ issuer, sub, issuedAt, ...person }: Identity, settings: Settings): Caller {
  const subject = `${issuer}#${sub}`;
  const roles = rolesOf({ subject, groups: person.groups }, settings);
  const rights = { roles, permissions: permissionsOf(roles) };
  return { ...person, ...rights, subject, assertedAt: issuedAt, method: "id_token" };
}

/** Facts about the caller that the caller's API tokens store. */
export function assertedClaimsOf({ groups, claims, assertedAt }: Caller): AssertedClaims {
  const required = Object.keys(claims).length > 0 ? { claims } : {};
  return { groups: [...new Set(groups)].sort(), ...required, at: assertedAt.toISOString() };
}
