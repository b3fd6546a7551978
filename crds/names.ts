import { sha256 } from "./digest.ts";

/** Names derived from an environment's name: pure, so that they can be computed again after a crash. */

export const NAME_MIN_LENGTH = 3;
export const NAME_MAX_LENGTH = 50;
/** DNS label that starts with a letter. RE2 and ECMAScript agree on it. */
export const NAME_PATTERN = "^[a-z]([a-z0-9-]*[a-z0-9])?$";
const UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

/** Kinds whose names users choose. */
export type NamedKind = "environment" | "repository" | "configSet";

/** A rule for names, as CEL for the API server and as code. */
export interface NameRule {
  /** CEL expression over `name`. */
  readonly cel: string;
  readonly holds: (name: string) => boolean;
  /** Violation of the rule, as words after "the name". */
  readonly message: string;
}

const SHAPE_RULES: readonly NameRule[] = [
  {
    cel: `name.size() >= ${NAME_MIN_LENGTH} && name.size() <= ${NAME_MAX_LENGTH}`,
    holds: (name) => name.length >= NAME_MIN_LENGTH && name.length <= NAME_MAX_LENGTH,
    message: `must have ${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} characters`,
  },
  {
    cel: `name.matches('${NAME_PATTERN}')`,
    holds: (name) => new RegExp(NAME_PATTERN).test(name),
    message: "must be lower-case letters, digits and hyphens, start with a letter and end with a letter or digit",
  },
  {
    // Hosts are "<name>--api" and "<name>--<further>": with "--", a name could take another environment's.
    cel: "!name.contains('--')",
    holds: (name) => !name.includes("--"),
    message: "must not contain '--'",
  },
  {
    // A path parameter is an id or a name: they must differ.
    cel: `!name.matches('${UUID_PATTERN}')`,
    holds: (name) => !isUuid(name),
    message: "must not look like a UUID",
  },
];

/** Prefixes of the platform's own names, for environments and Repositories, which environments are named after. */
const RESERVED_PREFIXES = ["kube-", "ephemeral-"];

function reserving(...names: string[]): NameRule {
  const quoted = names.map((name) => `'${name}'`).join(", ");
  const prefixed = RESERVED_PREFIXES.map((prefix) => `!name.startsWith('${prefix}')`);
  return {
    cel: [`!(name in [${quoted}])`, ...prefixed].join(" && "),
    holds: (name) => !names.includes(name) && !RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix)),
    message: "is reserved",
  };
}

/** The rules for names, by kind. */
export const NAME_RULES: Readonly<Record<NamedKind, readonly NameRule[]>> = {
  environment: [
    ...SHAPE_RULES,
    // Hosts of the platform, names that users expect elsewhere, and paths of the REST interface.
    reserving("www", "api", "app", "auth", "argocd", "docs", "git", "traefik", "default", "cleanup-failed"),
  ],
  // Paths of the REST interface.
  repository: [...SHAPE_RULES, reserving("reload")],
  configSet: SHAPE_RULES,
};

/** First problem of a name; `undefined` when it is valid. */
export function nameProblem(name: string, kind: NamedKind = "environment"): string | undefined {
  return NAME_RULES[kind].find((rule) => !rule.holds(name))?.message;
}

/** True for an environment's id rather than its name. */
export function isUuid(text: string): boolean {
  return new RegExp(UUID_PATTERN).test(text);
}

/** Name of the environment's namespace, application and project. */
export function namespaceName(environmentName: string): string {
  return `env-${environmentName}`;
}

/** Distinguishes successive environments of the same name. */
export function shortUid(uid: string): string {
  return uid.replaceAll("-", "").slice(0, 8);
}

/** Name of the Secret with an environment's values (embedded secret manager). */
export function secretStoreName(environment: { name: string; uid: string }): string {
  return `${environment.name}-${shortUid(environment.uid)}`;
}

/**
 * Id of a variable in an external secret manager: the environment's name first, in `[A-Za-z0-9_-]{1,255}`; a variable
 * that does not fit is replaced by its hash.
 */
export function secretEntryId(environment: { name: string; uid: string }, variable: string): string {
  const fits = /^[A-Za-z0-9_]{1,128}$/.test(variable);
  return `${secretStoreName(environment)}-${fits ? variable : sha256(variable)}`;
}

export type Component = "backend" | "frontend";
export const COMPONENTS: readonly Component[] = ["backend", "frontend"];

/** No name of an environment contains it, so no two environments share a host. */
const HOST_SEPARATOR = "--";

/** Label of a component's host below the base domain; a single one, so one wildcard certificate covers all. */
export function hostLabel(environmentName: string, component: Component): string {
  return component === "frontend" ? environmentName : `${environmentName}${HOST_SEPARATOR}api`;
}

/** Host of a component, without port. */
export function componentHost(environmentName: string, component: Component, baseDomain: string): string {
  return `${hostLabel(environmentName, component)}.${baseDomain}`;
}

/** Rest of a label's 63 characters beside the longest name of an environment. */
export const FURTHER_HOST_MAX_LENGTH = 63 - NAME_MAX_LENGTH - HOST_SEPARATOR.length;
/** Name of a further host, for RE2 and ECMAScript; without anchors, as part of other patterns. */
export const FURTHER_HOST_PATTERN = `[a-z](?:[a-z0-9-]{0,${FURTHER_HOST_MAX_LENGTH - 2}}[a-z0-9])?`;
/** The backend's host, and the platform's names of components' addresses. */
export const RESERVED_FURTHER_HOSTS: readonly string[] = ["api", "backend", "frontend"];

/** A further host of an environment, without port; a single label, as those of components. */
export function furtherHost(environmentName: string, name: string, baseDomain: string): string {
  return `${environmentName}${HOST_SEPARATOR}${name}.${baseDomain}`;
}

/** URL of a host, without the default port of HTTPS. */
export function hostUrl(host: string, publicPort: number): string {
  return publicPort === 443 ? `https://${host}` : `https://${host}:${publicPort}`;
}

/** Digits of a commit in messages, as many as `{short}` of a tag. */
export const shortCommit = (commit: string) => commit.slice(0, 8);
