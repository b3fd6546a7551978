import { createHash } from "node:crypto";

/**
 * The names that follow from an environment's name. Every one is a pure function, so that a crash never leaves
 * a thing whose name nobody can compute again.
 */

export const NAME_MIN_LENGTH = 3;
export const NAME_MAX_LENGTH = 50;
/** DNS label that starts with a letter. RE2 and ECMAScript agree on it. */
export const NAME_PATTERN = "^[a-z]([a-z0-9-]*[a-z0-9])?$";
const UUID_PATTERN = "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$";

/** What has its name from people. */
export type NamedKind = "environment" | "repository" | "configSet";

interface Reserved {
  readonly names: readonly string[];
  readonly prefixes: readonly string[];
}

const PLATFORM_PREFIXES = ["kube-", "ephemeral-"];

/** By kind, what has the shape of a name and is taken otherwise. */
const RESERVED: Readonly<Record<NamedKind, Reserved>> = {
  // Labels of the platform's own hosts, what people expect to be there, and what has a path where names have theirs.
  environment: {
    names: ["www", "api", "app", "auth", "argocd", "docs", "git", "traefik", "default", "cleanup-failed"],
    prefixes: PLATFORM_PREFIXES,
  },
  // What has a path where names have theirs. Environments are named after Repositories, so they begin alike.
  repository: { names: ["reload"], prefixes: PLATFORM_PREFIXES },
  configSet: { names: [], prefixes: [] },
};

/** A rule of the name, in both languages that enforce it: CEL in the API server and this code in the facade. */
export interface NameRule {
  /** The CEL expression over `name`. */
  readonly cel: string;
  readonly holds: (name: string) => boolean;
  /** What is wrong when it does not hold; completes "the name …". */
  readonly message: string;
}

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(", ");

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
    // Backend hosts are "<name>--api": a name with "--" could take another environment's host.
    cel: "!name.contains('--')",
    holds: (name) => !name.includes("--"),
    message: "must not contain '--'",
  },
  {
    // A path parameter is an id or a name; the two must never be confused.
    cel: `!name.matches('${UUID_PATTERN}')`,
    holds: (name) => !isUuid(name),
    message: "must not look like a UUID",
  },
];

/** One rule, or none where nothing is reserved. */
function reservedRules({ names, prefixes }: Reserved): readonly NameRule[] {
  const cel = [
    ...(names.length > 0 ? [`!(name in [${quoted(names)}])`] : []),
    ...prefixes.map((prefix) => `!name.startsWith('${prefix}')`),
  ];
  const holds = (name: string) => !names.includes(name) && !prefixes.some((prefix) => name.startsWith(prefix));
  return cel.length === 0 ? [] : [{ cel: cel.join(" && "), holds, message: "is reserved" }];
}

/** The rules of a name, by what it is the name of: all have one shape. */
export const NAME_RULES: Readonly<Record<NamedKind, readonly NameRule[]>> = {
  environment: [...SHAPE_RULES, ...reservedRules(RESERVED.environment)],
  repository: [...SHAPE_RULES, ...reservedRules(RESERVED.repository)],
  configSet: [...SHAPE_RULES, ...reservedRules(RESERVED.configSet)],
};

/** The first thing that is wrong with a name; `undefined` when it is fine. */
export function nameProblem(name: string, kind: NamedKind = "environment"): string | undefined {
  return NAME_RULES[kind].find((rule) => !rule.holds(name))?.message;
}

/** Whether a path parameter is an environment's id rather than its name. */
export function isUuid(text: string): boolean {
  return new RegExp(UUID_PATTERN).test(text);
}

/** The environment's namespace, its deployer application and that application's project all carry this name. */
export function namespaceName(environmentName: string): string {
  return `env-${environmentName}`;
}

/** Tells two environments of the same name apart that lived one after the other. */
export function shortUid(uid: string): string {
  return uid.replaceAll("-", "").slice(0, 8);
}

/** Where the embedded secret manager keeps an environment's values. */
export function secretStoreName(environment: { name: string; uid: string }): string {
  return `${environment.name}-${shortUid(environment.uid)}`;
}

/**
 * What an external secret manager calls the entry of one variable. It starts with the environment's name and holds
 * only what such managers let in, `[A-Za-z0-9_-]{1,255}`; a variable that does not fit is there as its hash.
 */
export function secretEntryId(environment: { name: string; uid: string }, variable: string): string {
  const fits = /^[A-Za-z0-9_]{1,128}$/.test(variable);
  return `${secretStoreName(environment)}-${fits ? variable : createHash("sha256").update(variable).digest("hex")}`;
}

export type Component = "backend" | "frontend";
export const COMPONENTS: readonly Component[] = ["backend", "frontend"];

/** The one label under the base domain at which a component answers: flat, so that one wildcard certificate serves all. */
export function hostLabel(environmentName: string, component: Component): string {
  return component === "frontend" ? environmentName : `${environmentName}--api`;
}

/** The host of a component, without port. */
export function componentHost(environmentName: string, component: Component, baseDomain: string): string {
  return `${hostLabel(environmentName, component)}.${baseDomain}`;
}

/** The URL of a component; the port is left out when it is HTTPS's own. */
export function componentUrl(host: string, publicPort: number): string {
  return publicPort === 443 ? `https://${host}` : `https://${host}:${publicPort}`;
}
