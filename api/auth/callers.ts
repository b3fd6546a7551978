import type { Settings } from "../../config/settings.ts";
import type { Scope } from "../../crds/api-token.ts";
import type { Vouched } from "../../operator/ports/api-tokens.ts";
import { type Permission, permissionsOf, type Role, rolesOf } from "./access.ts";

/** Who is asking, as the credential proves it. */
export interface Caller {
  /** `<issuer>#<sub>`: the identity, and all that ownership is decided by. */
  readonly subject: string;
  /** For people; empty when the issuer gives none, or says that it is not verified. */
  readonly email: string;
  readonly name: string;
  /** As they are named here: with the issuer's prefix. */
  readonly groups: readonly string[];
  /** The accepted value of each claim that the settings required of the issuer's users. */
  readonly claims: Readonly<Record<string, string>>;
  readonly roles: readonly Role[];
  readonly permissions: ReadonlySet<Permission>;
  /** What proved it. Only an ID token shows that the person is here now. */
  readonly method: "id_token" | "api_token";
  /** When the issuer said all that. */
  readonly vouchedAt: Date;
  /** When the proof ends; an API token may be good for ever. */
  readonly expiresAt: Date | undefined;
  /** The API token that was used. */
  readonly token?: { readonly id: string; readonly scopes: readonly Scope[] };
}

/** What a verified ID token says. */
export interface Identity {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string;
  readonly name: string;
  /** As they are named here: with the issuer's prefix. */
  readonly groups: readonly string[];
  /** The accepted value of each claim that the settings require of the issuer's users. */
  readonly claims: Readonly<Record<string, string>>;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** The caller whom an identity makes under these settings. */
export function callerOf({ issuer, sub, issuedAt, ...person }: Identity, settings: Settings): Caller {
  const subject = `${issuer}#${sub}`;
  const roles = rolesOf({ subject, groups: person.groups }, settings);
  const rights = { roles, permissions: permissionsOf(roles) };
  return { ...person, ...rights, subject, vouchedAt: issuedAt, method: "id_token" };
}

/** What the caller's API tokens may remember of them. */
export function vouchedOf({ groups, claims, vouchedAt }: Pick<Caller, "groups" | "claims" | "vouchedAt">): Vouched {
  const required = Object.keys(claims).length > 0 ? { claims } : {};
  return { groups: [...new Set(groups)].sort(), ...required, at: vouchedAt.toISOString() };
}
