import { type Counted, FINALIZER, kindOf, type Namespaced, type Resource, reconcileToken } from "../group.ts";
import type { ChartSource } from "./chart-source.ts";
import { type Build, DEFAULT_TAG_TEMPLATE, tagOf } from "./image-tag.ts";
import type { Chart, RepositorySpec, RepositoryStatus, SecretKind } from "./repository.schema.ts";

export type { ChartSource } from "./chart-source.ts";
export type { Chart, RepositorySpec, RepositoryStatus, SecretKind } from "./repository.schema.ts";

/**
 * A backend or frontend repository: its location, and how it becomes a component. A deleted one stays until its last
 * environment is gone.
 */
export interface Repository extends Resource<"Repository", RepositorySpec, Namespaced & Counted> {
  readonly status?: RepositoryStatus;
}

export const repositoryKind = kindOf("Repository", "repositories");

/** True with the platform's finalizer, because environments use the Repository. */
export function isKept({ metadata }: Repository): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Default branch of the Repository. */
export function branchOf({ spec }: Repository): string {
  return spec.defaultBranch ?? "main";
}

/** Full name on the host, such as `shop/shop-api`: as registered, else the path of the URL. */
export function fullNameOf({ spec }: Pick<Repository, "spec">): string {
  if (spec.fullName !== undefined) return spec.fullName;
  // An invalid URL has no path.
  const path = URL.canParse(spec.cloneUrl) ? new URL(spec.cloneUrl).pathname : "";
  return path.replaceAll(/^\/+|\/+$/g, "").replace(/\.git$/, "");
}

/** Id on the host: as registered, else from the first webhook of that host; `undefined` before that. */
export function hostIdOf({ spec, status }: Hosted): string | undefined {
  const { id, host = spec.host } = status?.hostRepository ?? {};
  return spec.hostId ?? (spec.host === undefined || host !== spec.host ? undefined : id);
}

/** True when its host calls it otherwise: its registered name may have become another repository's. */
export function isRenamed(repository: Hosted): boolean {
  const { fullName, host = repository.spec.host } = repository.status?.hostRepository ?? {};
  if (fullName === undefined || host !== repository.spec.host) return false;
  return fullName.toLowerCase() !== fullNameOf(repository).toLowerCase();
}

/** The host that a Repository's spec or a delivery names; `undefined` where the settings lack it, and where none is named. */
export function hostOf<Host extends { readonly id: string }>(
  { host }: { readonly host?: string | undefined },
  { hosts }: { readonly hosts: readonly Host[] },
): Host | undefined {
  return hosts.find(({ id }) => id === host);
}

/** The place of a Repository on its host; `undefined` where the settings have no token to call the host with. */
export function hostedRepository(
  repository: Pick<Repository, "spec">,
  settings: { readonly hosts: readonly { readonly id: string; readonly token?: unknown }[] },
): { readonly host: string; readonly fullName: string } | undefined {
  const host = hostOf(repository.spec, settings);
  return host?.token === undefined ? undefined : { host: host.id, fullName: fullNameOf(repository) };
}

type Hosted = Pick<Repository, "spec" | "status">;

/** True when both are parts of one repository of a host, a monorepo: by id where both have it, else by name. */
export function isOneRepository(one: Hosted, other: Hosted): boolean {
  if (one.spec.host !== other.spec.host) return false;
  const [id, otherId] = [hostIdOf(one), hostIdOf(other)];
  if (id !== undefined && otherId !== undefined) return id === otherId;
  return fullNameOf(one).toLowerCase() === fullNameOf(other).toLowerCase();
}

/** Token of a requested check without an answer. */
export function requestedCheck(repository: Repository): string | undefined {
  const requested = reconcileToken(repository);
  return requested === repository.status?.lastHandledReconcileAt ? undefined : requested;
}

/** A variable to generate a value for. */
export interface GeneratedSecret {
  readonly name: string;
  readonly kind: SecretKind;
  /** Characters of the value; a uuid has its own length. */
  readonly length: number;
}

/** Password of the role that owns an environment's database. */
export const DATABASE_LOGIN: GeneratedSecret = { name: "DATABASE_PASSWORD", kind: "password", length: 32 };

const DEFAULT_SECRETS: readonly GeneratedSecret[] = [
  DATABASE_LOGIN,
  { name: "SECRET_KEY", kind: "key", length: 64 },
  { name: "API_TOKEN", kind: "token", length: 40 },
];

/** Variables that are generated for this Repository's environments. */
export function generatedSecrets({ spec }: Repository): readonly GeneratedSecret[] {
  return spec.secrets?.map(({ name, kind = "password", length = 32 }) => ({ name, kind, length })) ?? DEFAULT_SECRETS;
}

/** Variables that may be secret in some environment: those of any Repository, and the default ones. */
export function secretNames(repositories: readonly Repository[]): ReadonlySet<string> {
  return new Set([...DEFAULT_SECRETS, ...repositories.flatMap(generatedSecrets)].map(({ name }) => name));
}

/** Secrets that an environment of these Repositories needs; a database always has a password. */
export function neededSecrets(repositories: readonly Repository[], hasDatabase: boolean): readonly GeneratedSecret[] {
  return [...(hasDatabase ? [DATABASE_LOGIN] : []), ...repositories.flatMap(generatedSecrets)];
}

/** Chart of this backend's environments: its own, else the default. */
export function chartOf(
  { backend }: { readonly backend?: Repository | undefined },
  { defaultChart }: { readonly defaultChart: Chart },
): Chart {
  return backend?.spec.chart ?? defaultChart;
}

/** The place of that chart alone. */
export function chartSourceOf(
  repositories: { readonly backend?: Repository | undefined },
  settings: { readonly defaultChart: Chart },
): ChartSource {
  const { values: _, credentialsRef: __, ...source } = chartOf(repositories, settings);
  return source;
}

/** The template of its images' tags. */
export function tagTemplateOf({ spec }: Repository): string {
  return spec.image.tagTemplate ?? DEFAULT_TAG_TEMPLATE;
}

/** Image of a build; keeps a placeholder without a value, see `missingPlaceholder`. */
export function imageOf(repository: Repository, build: Build): string {
  return `${repository.spec.image.repository}:${tagOf(tagTemplateOf(repository), build)}`;
}

/** Registry of images that name none. */
export const DOCKER_HUB = "docker.io";

/** Registry of the image, as `host` or `host:port` (Docker Hub when the image names no host), and its name there. */
export function imagePlace({ spec }: Repository): { readonly registry: string; readonly name: string } {
  const [first = "", ...path] = spec.image.repository.split("/");
  const isHost = path.length > 0 && (/[.:]/.test(first) || first === "localhost");
  if (!isHost) return { registry: DOCKER_HUB, name: spec.image.repository };
  return { registry: first === `index.${DOCKER_HUB}` ? DOCKER_HUB : first, name: path.join("/") };
}

/** True when one of the Repositories lets environments override the value at exactly this path. */
export function isOverridable(path: string, repositories: readonly Repository[]): boolean {
  return repositories.some(({ spec }) => spec.overridable?.includes(path));
}

/** True when these groups may use the Repository or config set. */
export function admits(
  { spec }: { readonly spec: Pick<RepositorySpec, "access"> },
  groups: readonly string[],
): boolean {
  const allowed = spec.access?.groups ?? [];
  return allowed.length === 0 || allowed.some((group) => groups.includes(group));
}
