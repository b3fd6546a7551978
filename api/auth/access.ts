import type { Settings } from "../../config/settings.ts";
import type { Scope } from "../../crds/api-token.ts";
import type { ConfigSet } from "../../crds/config-set.ts";
import { admits, type Repository } from "../../crds/repository/repository.ts";
import type { EnvironmentRights } from "../../operator/ports/facade/environments.ts";

/** Roles, from the least to the most; each has all the permissions of those before it. */
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
  /** API tokens of one's own. */
  "tokens:manage",
  /** Beyond one's own and one's groups'. */
  "environments:all",
  "configs:write",
  "repos:reload",
  /** To list and revoke those of others; their values are never shown. */
  "tokens:all",
] as const;
export type Permission = (typeof PERMISSIONS)[number];

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

const ADDED: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ["environments:read", "configs:read", "repos:read", "observability:read", "insights:read"],
  developer: ["environments:create", "environments:update", "environments:delete", "tokens:manage"],
  maintainer: ["environments:all", "configs:write", "repos:reload"],
  admin: ["tokens:all"],
};

/** Rights over credentials, or over what others work with. */
const PRIVILEGES: ReadonlySet<Permission> = new Set([
  "tokens:manage",
  "tokens:all",
  "configs:write",
  "repos:reload",
  "environments:all",
]);

/** Whether who uses the permission has power over credentials, or over what others work with. */
export function isPrivilege(permission: Permission | undefined): boolean {
  return permission !== undefined && PRIVILEGES.has(permission);
}

/** Somebody as an issuer vouches for them. */
interface Vouched {
  /** `<issuer>#<sub>`. */
  readonly subject: string;
  readonly groups: readonly string[];
}

/** The settings of the issuer that a subject is of; `undefined` when it is trusted no more. No issuer has a `#`. */
export function issuerOf(subject: string, { api }: Settings): Settings["api"]["issuers"][number] | undefined {
  return api.issuers.find(({ issuer }) => issuer === subject.slice(0, subject.indexOf("#")));
}

/**
 * The roles that the settings of somebody's issuer give to their groups, else its default role; none for users of an
 * issuer that is trusted no more.
 */
export function rolesOf({ subject, groups }: Vouched, settings: Settings): readonly Role[] {
  const issuer = issuerOf(subject, settings);
  if (issuer === undefined) return [];
  const mapped = ROLES.filter((role) => issuer.roles[role].some((group) => groups.includes(group)));
  return mapped.length === 0 && issuer.defaultRole !== undefined ? [issuer.defaultRole] : mapped;
}

/** What the highest of the roles may do. */
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

/** What each scope lets a token do, as far as its owner may. */
const SCOPE_PERMISSIONS: Readonly<Record<Scope, readonly Permission[]>> = {
  ENV_CREATE: MANAGE_ENVIRONMENTS,
  "environments:create": MANAGE_ENVIRONMENTS,
  ENV_READ: ["environments:read"],
  "environments:read": ["environments:read"],
  CONFIG_READ: ["configs:read", "repos:read"],
  CONFIG_WRITE: ["configs:write"],
};

/** What is left of the owner's permissions. To which environments they apply is the owner's matter, not a scope's. */
export function narrowed(permissions: ReadonlySet<Permission>, scopes: readonly Scope[]): ReadonlySet<Permission> {
  const granted = new Set(scopes.flatMap((scope) => SCOPE_PERMISSIONS[scope]));
  if (granted.has("environments:read")) granted.add("environments:all");
  return new Set([...permissions].filter((permission) => granted.has(permission)));
}

/** The scopes that ask for more than these permissions. */
export function scopesBeyond(permissions: ReadonlySet<Permission>, scopes: readonly Scope[]): readonly Scope[] {
  return scopes.filter((scope) => !SCOPE_PERMISSIONS[scope].every((permission) => permissions.has(permission)));
}

/**
 * Tells of which environments the caller may know that they exist: the owner, members of their groups, maintainers.
 * What may be done to a visible environment is the permission's matter alone. Made once for thousands of them.
 */
export function visibleTo({ permissions, subject, groups }: Caller): (rights: EnvironmentRights) => boolean {
  if (permissions.has("environments:all")) return () => true;
  const own = new Set(groups);
  const isOwn = (group: string) => own.has(group);
  return ({ owner, access }) => owner?.subject === subject || (access?.groups.some(isOwn) ?? false);
}

/** Whether the caller may make environments of the repository, or with the config set; for others it does not exist. */
export function mayUse(caller: Caller, used: Repository | ConfigSet): boolean {
  return admits(used, caller.groups);
}

/** Whether the caller may know of it: those who may use it, and those who manage all of them. */
export function mayRead(
  caller: Caller,
  thing: Repository | ConfigSet,
  manage: Extract<Permission, "configs:write" | "repos:reload">,
): boolean {
  // By role: a token that only reads reads what its owner does.
  return permissionsOf(caller.roles).has(manage) || mayUse(caller, thing);
}
