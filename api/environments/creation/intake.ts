import { type ConfigSet, referredVariables } from "../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { ConfigInvalid, TtlExceeded, type Violation } from "../../../crds/errors.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { branchOf, neededSecrets, type Repository } from "../../../crds/repository/repository.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import { sharedGroups } from "../../auth/access.ts";
import type { Caller } from "../../auth/callers.ts";
import { checkSharedKeys, commonGroups, refusedConfigSet, refusedReferences } from "../../auth/secret-references.ts";
import { chosenConfigSet, configured, hasDatabase } from "../../config-sets/usable-config-set.ts";
import { usableRepository } from "../../repositories/usable-repository.ts";
import type { Services } from "../../route.ts";
import type { CreateRequest } from "../schemas.ts";
import { type AskedCommit, fullCommits } from "./commits.ts";
import { type Overrides, readOverrides } from "./overrides.ts";

/** What a creation asks for. */
export interface WantedEnvironment {
  readonly name: string;
  readonly spec: EnvironmentSpec;
  /** Values of variables that the spec says are provided: for the secret manager alone. */
  readonly provided: ReadonlyMap<string, Sensitive>;
}

type Outside = Pick<
  Services,
  "settings" | "environments" | "repositories" | "branchHeads" | "configSets" | "secretManager" | "log"
>;
type Repositories = { readonly backend: Repository } & { readonly [component in Component]?: Repository };

/**
 * The resource that a creation asks for: REST names become the spec's, the caller its owner.
 *
 * @throws TtlExceeded, ConfigInvalid with everything that is wrong, RepositoryNotFound (also for a repository that the
 *   caller may not use), SecretsUnavailable, HostUnavailable for a short commit SHA that can't be resolved now, Refusal
 *   (forbidden) for shared API keys of other groups
 */
export async function wantedEnvironment(
  request: CreateRequest,
  caller: Caller,
  platform: Outside,
): Promise<WantedEnvironment> {
  const { maximumHours } = platform.settings.ttl;
  if (request.ttl !== undefined && request.ttl > maximumHours) throw new TtlExceeded(maximumHours);
  const repositories = usableRepositories(request, caller, platform);
  const { configSet, ...chosen } = chosenConfigSet(request, caller, platform);
  const overrides = readOverrides(request.config_overrides, repositories, hasDatabase(request, configSet));
  const groups = sharedGroups(Object.values(repositories));
  const referrer = { environment: request.environment_name };
  const judgement = { referrer, groups: commonGroups(groups, caller), caller, platform };
  const violations = [
    ...chosen.violations,
    ...overrides.violations,
    ...missingSecrets(request, overrides, { repositories, configSet }),
    ...missingKeys(request, configSet),
    ...(await refusedReferences(overrides.references, judgement)),
    ...(await refusedConfigSet(configSet, { ...overrides, components: componentsOf(repositories) }, judgement)),
  ];
  if (violations.length > 0) throw new ConfigInvalid(violations);
  if (request.use_shared_api_keys) await checkSharedKeys(configSet, judgement);
  const spec: EnvironmentSpec = {
    ...configured(request, configSet, platform),
    ...(await sources(request, repositories, platform)),
    ...secrets(request, overrides),
    ...(overrides.overrides ? { overrides: overrides.overrides } : {}),
    owner: { subject: caller.subject, email: caller.email, name: caller.name },
    access: { groups },
    trigger: { kind: "api" },
  };
  return { name: request.environment_name, spec, provided: overrides.provided };
}

function usableRepositories(request: CreateRequest, caller: Caller, platform: Outside): Repositories {
  const usable = (id: string, type: Repository["spec"]["type"]) =>
    usableRepository(id, { field: `${type}_repo`, type, caller }, platform);
  const backend = usable(request.backend_repo, "backend");
  return request.frontend_repo ? { backend, frontend: usable(request.frontend_repo, "frontend") } : { backend };
}

const componentsOf = ({ frontend }: Repositories): readonly Component[] => (frontend ? COMPONENTS : ["backend"]);

interface Sources {
  readonly repositories: Repositories;
  readonly configSet: ConfigSet | undefined;
}

/** Where nothing is generated, every secret must come from somewhere. */
function missingSecrets(
  request: CreateRequest,
  { provided, references }: Overrides,
  { repositories, configSet }: Sources,
): Violation[] {
  if (request.auto_generate_secrets !== false) return [];
  const given = new Set([
    ...provided.keys(),
    ...references.map(({ variable }) => variable),
    ...(configSet === undefined ? [] : referredVariables(configSet.spec, request.use_shared_api_keys ?? false)),
  ]);
  const needed = neededSecrets(Object.values(repositories), hasDatabase(request, configSet));
  const missing = new Set(needed.map(({ name }) => name)).difference(given);
  if (missing.size === 0) return [];
  const message = `nothing is generated, so config_overrides must give ${[...missing].join(", ")}`;
  return [{ field: "auto_generate_secrets", message }];
}

function missingKeys(request: CreateRequest, configSet: ConfigSet | undefined): Violation[] {
  if (!request.use_shared_api_keys || (configSet?.spec.sharedApiKeys ?? []).length > 0) return [];
  return [{ field: "use_shared_api_keys", message: "needs a config set that has shared API keys" }];
}

function secrets(request: CreateRequest, { provided }: Overrides): Pick<EnvironmentSpec, "secrets"> {
  const asked: NonNullable<EnvironmentSpec["secrets"]> = {
    ...(request.auto_generate_secrets === false ? { autoGenerate: false } : {}),
    ...(request.use_shared_api_keys ? { useSharedApiKeys: true } : {}),
    ...(provided.size > 0 ? { provided: [...provided.keys()].sort() } : {}),
  };
  return Object.keys(asked).length > 0 ? { secrets: asked } : {};
}

/** Where each component comes from; what a request says of a frontend that it does not ask for means nothing. */
async function sources(
  request: CreateRequest,
  { backend, frontend }: Repositories,
  platform: Outside,
): Promise<Pick<EnvironmentSpec, "backend" | "frontend">> {
  const asked = {
    backend: askedCommit("backend", backend, request),
    ...(frontend ? { frontend: askedCommit("frontend", frontend, request) } : {}),
  };
  const commits = await fullCommits(Object.values(asked), platform);
  return {
    backend: source(asked.backend, commits.backend),
    ...(asked.frontend ? { frontend: source(asked.frontend, commits.frontend) } : {}),
  };
}

function askedCommit(component: Component, repository: Repository, request: CreateRequest): AskedCommit {
  const { [`${component}_branch` as const]: branch, [`${component}_commit` as const]: commit = "" } = request;
  return { component, repository, branch: branch || branchOf(repository), commit };
}

function source({ repository, branch }: AskedCommit, commit: string | undefined): EnvironmentSpec["backend"] {
  return { repository: repository.metadata.name, branch, ...(commit === undefined ? {} : { commit }) };
}
