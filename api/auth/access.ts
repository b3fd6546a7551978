import type { Settings } from "../../config/settings.ts";
import type { Scope } from "../../crds/api-token.ts";
import type { ConfigSet } from "../../crds/config-set.ts";
import { admits, type Repository } from "../../crds/repository/repository.ts";
import type { EnvironmentRights } from "../../operator/ports/api/environments.ts";

/** Roles in ascending order; each has all permissions of those before it. */
export const ROLES = ["viewer", "developer", "maintainer", "admin"] as const;
export type Role = (typeof ROLES)[number];

export const PERMISSIONS = [
  "environments:read",
  "configs:read",
  "repos:read",
  "observability:read",
  "insights:read",
  "environments:create",
  "environments:update",
  "environments:delete",
  /** The caller's own API tokens. */
  "tokens:manage",
  /** Environments beyond the caller's own and the caller's groups'. */
  "environments:all",
  "configs:write",
  "repos:reload",
  /** Replays webhooks and approves commits of forks. */
  "webhooks:manage",
  /** Lists and revokes others' tokens, whose values are never shown. */
  "tokens:all",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Caller, as the credential authenticates them. */
export interface Caller {
  /** `<issuer>#<sub>`: the identity; it alone decides ownership. */
  readonly subject: string;
  /** Address for people; empty when the issuer gives none, or an unverified one. */
  readonly email: string;
  readonly name: string;
  /** Groups with the issuer's prefix. */
  readonly groups: readonly string[];
  /** Accepted value of each required claim. */
  readonly claims: Readonly<Record<string, string>>;
  readonly roles: readonly Role[];
  readonly permissions: ReadonlySet<Permission>;
  /** Only an ID token shows that the person is present. */
  readonly method: "id_token" | "api_token";
  /** Time of the issuer's statement. */
  readonly assertedAt: Date;
  /** `undefined` for an API token without an expiry. */
  readonly expiresAt: Date | undefined;
  readonly token?: { readonly id: string; readonly scopes: readonly Scope[] };
}

const ADDED: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["environments:read", "configs:read", "repos:read", "observability:read", "insights:read"],
  developer: ["environments:create", "environments:update", "environments:delete", "tokens:manage"],
  maintainer: ["environments:all", "configs:write", "repos:reload", "webhooks:manage"],
  admin: ["tokens:all"],
};

const PRIVILEGES: ReadonlySet<Permission> = new Set([
  "tokens:manage",
  "tokens:all",
  "configs:write",
  "repos:reload",
  "webhooks:manage",
  "environments:all",
]);

/** True for power over credentials, or over the work of others. */
export function isPrivilege(permission: Permission | undefined): boolean {
  return permission !== undefined && PRIVILEGES.has(permission);
}

type AssertedClaims = Pick<Caller, "subject" | "groups">;

/** Settings of a subject's issuer; `undefined` for an issuer without trust. No issuer has a `#`. */
export function issuerOf(subject: string, { api }: Settings): Settings["api"]["issuers"][number] | undefined {
  return api.issuers.find(({ issuer }) => issuer === subject.slice(0, subject.indexOf("#")));
}

/** Roles by the groups that the issuer's settings name, else its default role; none for an issuer without trust. */
export function rolesOf({ subject, groups }: AssertedClaims, settings: Settings): readonly Role[] {
  const issuer = issuerOf(subject, settings);
  if (issuer === undefined) return [];
  const mapped = ROLES.filter((role) => issuer.roles[role].some((group) => groups.includes(group)));
  return mapped.length === 0 && issuer.defaultRole !== undefined ? [issuer.defaultRole] : mapped;
}

/** Permissions of the highest of the roles. */
export function permissionsOf(roles: readonly Role[]): ReadonlySet<Permission> {
  const highest = Math.max(-1, ...roles.map((role) => ROLES.indexOf(role)));
  return new Set(ROLES.slice(0, highest + 1).flatMap((role) => ADDED[role]));
}

const MANAGE_ENVIRONMENTS = [
  "environments:create",
  "environments:read",
  "environments:update",
  "environments:delete",
] as const satisfies readonly Permission[];

const SCOPE_PERMISSIONS: Readonly<Record<Scope, readonly Permission[]>> = {
  ENV_CREATE: MANAGE_ENVIRONMENTS,
  "environments:create": MANAGE_ENVIRONMENTS,
  ENV_READ: ["environments:read"],
  "environments:read": ["environments:read"],
  CONFIG_READ: ["configs:read", "repos:read"],
  CONFIG_WRITE: ["configs:write"],
};

/** Permissions of the owner that the scopes allow, for all environments. */
export function narrowed(permissions: ReadonlySet<Permission>, scopes: readonly Scope[]): ReadonlySet<Permission> {
  const granted = new Set(scopes.flatMap((scope) => SCOPE_PERMISSIONS[scope]));
  if (granted.has("environments:read")) granted.add("environments:all");
  return new Set([...permissions].filter((permission) => granted.has(permission)));
}

/** Scopes that allow more than these permissions. */
export function scopesBeyond(permissions: ReadonlySet<Permission>, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => !SCOPE_PERMISSIONS[scope].every((permission) => permissions.has(permission)));
}

/**
 * Predicate for visible environments: the caller's, those of the caller's groups, all for maintainers. Permissions
 * alone decide what is allowed on them. Created once for thousands of environments.
 */
export function visibleTo({ permissions, subject, groups }: Caller): (rights: EnvironmentRights) => boolean {
  if (permissions.has("environments:all")) return () => true;
  const own = new Set(groups);
  const isOwn = (group: string) => own.has(group);
  return ({ owner, access }) => owner?.subject === subject || (access?.groups.some(isOwn) ?? false);
}

/** True when the caller may create environments with the Repository or config set. */
export function mayUse(caller: Caller, used: Repository | ConfigSet): boolean {
  return admits(used, caller.groups);
}

/** True for callers who may use it, and those who manage all of them. */
export function mayRead(
  caller: Caller,
  thing: Repository | ConfigSet,
  manage: Extract<Permission, "configs:write" | "repos:reload">,
): boolean {
  // By role: a token with a reading scope reads all that its owner may read.
  return permissionsOf(caller.roles).has(manage) || mayUse(caller, thing);
}
