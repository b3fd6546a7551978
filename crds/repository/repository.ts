import { reconcileToken } from "../environment/ephemeral-environment.ts";
import { type Counted, FINALIZER, kindOf, type Namespaced, type Resource } from "../group.ts";
import type { ChartSource } from "./chart-source.ts";
import { type Build, DEFAULT_TAG_TEMPLATE, tagOf } from "./image-tag.ts";
import type { Chart, RepositorySpec, RepositoryStatus, SecretKind } from "./repository.schema.ts";

export type { ChartSource } from "./chart-source.ts";
export type { Chart, RepositorySpec, RepositoryStatus, SecretKind } from "./repository.schema.ts";

/**
 * A backend or frontend repository: where it is, and how it becomes a component of an environment. A deleted one stays
 * until its last environment is gone.
 */
export interface Repository extends Resource<"Repository", RepositorySpec, Namespaced & Counted> {
  readonly status?: RepositoryStatus;
}

export const repositoryKind = kindOf("Repository", "repositories");

/** Whether it has our finalizer, because environments use it. */
export function isKept({ metadata }: Repository): boolean {
  return metadata.finalizers?.includes(FINALIZER) ?? false;
}

/** Its default branch. */
export function branchOf({ spec }: Repository): string {
  return spec.defaultBranch ?? "main";
}

/** Its full name on the host, such as `shop/shop-api`: as registered, else the path of its URL. */
export function fullNameOf({ spec }: Pick<Repository, "spec">): string {
  if (spec.fullName !== undefined) return spec.fullName;
  // An invalid URL has no path.
  const path = URL.canParse(spec.cloneUrl) ? new URL(spec.cloneUrl).pathname : "";
  return path.replaceAll(/^\/+|\/+$/g, "").replace(/\.git$/, "");
}

/** Its id on the host: as registered, else as its first webhook named it; `undefined` before that. */
export function hostIdOf({ spec, status }: Pick<Repository, "spec" | "status">): string | undefined {
  return spec.hostId ?? (spec.host === undefined ? undefined : status?.hostRepository?.id);
}

type Hosted = Pick<Repository, "spec" | "status">;

/** Whether both are parts of one repository of a host, a monorepo: by its id where both know it, else by its name. */
export function isOneRepository(one: Hosted, other: Hosted): boolean {
  if (one.spec.host !== other.spec.host) return false;
  const [id, otherId] = [hostIdOf(one), hostIdOf(other)];
  if (id !== undefined && otherId !== undefined) return id === otherId;
  return fullNameOf(one).toLowerCase() === fullNameOf(other).toLowerCase();
}

/** The token of a requested check that is not answered yet. */
export function askedCheck(repository: Repository): string | undefined {
  const asked = reconcileToken(repository);
  return asked === repository.status?.lastHandledReconcileAt ? undefined : asked;
}

/** A variable to generate a value for. */
export interface WantedSecret {
  readonly name: string;
  readonly kind: SecretKind;
  /** Characters of the value; a uuid has its own length. */
  readonly length: number;
}

/** The password of the role that owns an environment's database. */
export const DATABASE_LOGIN: WantedSecret = { name: "DATABASE_PASSWORD", kind: "password", length: 32 };

const DEFAULT_SECRETS: readonly WantedSecret[] = [
  DATABASE_LOGIN,
  { name: "SECRET_KEY", kind: "key", length: 64 },
  { name: "API_TOKEN", kind: "token", length: 40 },
];

/** The variables that an environment of this repository gets generated. */
export function wantedSecrets({ spec }: Repository): readonly WantedSecret[] {
  return spec.secrets?.map(({ name, kind = "password", length = 32 }) => ({ name, kind, length })) ?? DEFAULT_SECRETS;
}

/** The variables that may be a secret of some environment: those of any Repository, and the default ones. */
export function secretNames(repositories: readonly Repository[]): ReadonlySet<string> {
  return new Set([...DEFAULT_SECRETS, ...repositories.flatMap(wantedSecrets)].map(({ name }) => name));
}

/** The secrets that an environment of these Repositories needs; a database has a password, whatever they list. */
export function neededSecrets(repositories: readonly Repository[], hasDatabase: boolean): readonly WantedSecret[] {
  return [...(hasDatabase ? [DATABASE_LOGIN] : []), ...repositories.flatMap(wantedSecrets)];
}

/** The chart that environments of this backend are rendered with: its own, else the default one. */
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

/** The image of a build; a placeholder without a value stays in it, see `missingPlaceholder`. */
export function imageOf(repository: Repository, build: Build): string {
  return `${repository.spec.image.repository}:${tagOf(tagTemplateOf(repository), build)}`;
}

/** The registry of images that name none. */
export const DOCKER_HUB = "docker.io";

/** The registry of its image, as `host` or `host:port` (Docker Hub when the image names no host), and its name there. */
export function imagePlace({ spec }: Repository): { readonly registry: string; readonly name: string } {
  const [first = "", ...path] = spec.image.repository.split("/");
  const isHost = path.length > 0 && (/[.:]/.test(first) || first === "localhost");
  if (!isHost) return { registry: DOCKER_HUB, name: spec.image.repository };
  return { registry: first === `index.${DOCKER_HUB}` ? DOCKER_HUB : first, name: path.join("/") };
}

/** Whether one of the Repositories lets environments override the chart value at exactly this path. */
export function isOverridable(path: string, repositories: readonly Repository[]): boolean {
  return repositories.some(({ spec }) => spec.overridable?.includes(path));
}

/** Whether members of these groups may use the Repository or the config set. */
export function admits(
  { spec }: { readonly spec: Pick<RepositorySpec, "access"> },
  groups: readonly string[],
): boolean {
  const allowed = spec.access?.groups ?? [];
  return allowed.length === 0 || allowed.some((group) => groups.includes(group));
}
