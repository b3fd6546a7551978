import type { ConfigSet } from "../../../crds/config-set.ts";
import type { EnvironmentSpec } from "../../../crds/environment/ephemeral-environment.ts";
import { sharedGroups } from "../../../crds/environment/repository-use.ts";
import { isPullRequestName } from "../../../crds/environment/triggered-names.ts";
import { ConfigInvalid, TtlExceeded, type Violation } from "../../../crds/errors.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { present } from "../../../crds/present.ts";
import { branchOf } from "../../../crds/repository/repository.ts";
import { mappingOf } from "../../../crds/repository/values-mapping.ts";
import { TTL_DEFAULT_HOURS } from "../../../crds/schema.ts";
import type { Sensitive } from "../../../crds/sensitive.ts";
import type { Caller } from "../../auth/access.ts";
import { checkSharedKeys, commonGroups, unsharedConfigSet, unsharedReferences } from "../../auth/secret-references.ts";
import { usableConfigSet } from "../../config-sets/usable-config-set.ts";
import { usableRepository } from "../../repositories/usable-repository.ts";
import { sleepViolations, sleepWishOf } from "../../schemas/sleep.ts";
import type { Services } from "../../services.ts";
import { fullCommits, type RequestedSource } from "./commits.ts";
import { type FirstData, firstDataOf } from "./first-data.ts";
import { type Overrides, readOverrides } from "./overrides.ts";
import type { CreateReportRequest } from "./schemas.ts";

/** The environment that a request asks for. */
export interface DesiredEnvironment {
  readonly name: string;
  readonly spec: EnvironmentSpec;
  /** Values of the spec's provided variables: for the secret manager alone. */
  readonly provided: ReadonlyMap<string, Sensitive>;
}

type IntakeServices = Pick<
  Services,
  "settings" | "repositories" | "unknownNames" | "branchHeads" | "configSets" | "secretManager" | "environments" | "log"
>;

interface Resolved {
  readonly sources: { readonly backend: RequestedSource } & { readonly [component in Component]?: RequestedSource };
  readonly configSet: ConfigSet | undefined;
  readonly hasDatabase: boolean;
  /** True when the chart has values of its own. */
  readonly isMapped: boolean;
  readonly overrides: Overrides;
  readonly violations: readonly Violation[];
}

/**
 * Maps a request to the resource: REST names become the spec's, the caller becomes the owner.
 *
 * @throws TtlExceeded, ConfigInvalid with everything that is wrong, RepositoryNotFound (also for a forbidden
 * Repository), ClusterUnavailable, SecretsUnavailable, HostUnavailable for a short commit SHA that can't be resolved now, HttpError
 * (forbidden) for shared API keys of other groups
 */
export async function desiredEnvironment(
  request: CreateReportRequest,
  caller: Caller,
  services: IntakeServices,
): Promise<DesiredEnvironment> {
  await lookUpNames(request, services.unknownNames);
  const resolved = resolve(request, caller, services);
  const { sources, configSet, overrides } = resolved;
  const groups = sharedGroups(Object.values(sources).map(({ repository }) => repository));
  const components = COMPONENTS.filter((component) => sources[component] !== undefined);
  const named = { environment: request.environment_name };
  const referrer = { referrer: named, groups: commonGroups(groups, caller), caller, services };
  const references = await unsharedReferences(overrides.references, referrer);
  const readers = {
    owner: { subject: caller.subject, email: caller.email, name: caller.name },
    access: { groups },
  };
  const firstData = await firstDataOf(request, { ...resolved, readers, caller }, services);
  const unshared = await unsharedConfigSet(configSet, { ...overrides, components }, referrer);
  const violations = [
    ...resolved.violations,
    ...firstData.violations,
    ...references,
    ...(unshared
      ? [{ field: "config_set", message: `${unshared}: name another one, or give them in config_overrides` }]
      : []),
  ];
  if (violations.length > 0) throw new ConfigInvalid(violations);
  if (request.use_shared_api_keys) await checkSharedKeys(configSet, referrer);
  const spec: EnvironmentSpec = {
    ...(await specOf(request, { ...resolved, origin: firstData.origin }, services)),
    ...readers,
    trigger: { kind: "api" },
  };
  return { name: request.environment_name, spec, provided: overrides.provided };
}

/** Pipelines and people create right after they have registered what they name. */
async function lookUpNames(request: CreateReportRequest, unknownNames: IntakeServices["unknownNames"]): Promise<void> {
  const { backend_repo: backend, frontend_repo: frontend, config_set: configSet } = request;
  await Promise.all([
    unknownNames.lookUp("repository", backend),
    ...(frontend ? [unknownNames.lookUp("repository", frontend)] : []),
    ...(configSet ? [unknownNames.lookUp("configSet", configSet)] : []),
  ]);
}

function resolve(request: CreateReportRequest, caller: Caller, services: IntakeServices): Resolved {
  const { maximumHours } = services.settings.ttl;
  if (request.ttl !== undefined && request.ttl > maximumHours) throw new TtlExceeded(maximumHours);
  const source = (component: Component, id: string): RequestedSource => {
    const requested = { field: `${component}_repo`, type: component, caller };
    const repository = usableRepository(id, requested, services.repositories);
    const { [`${component}_branch` as const]: branch, [`${component}_commit` as const]: commit = "" } = request;
    return { component, repository, branch: branch || branchOf(repository), commit };
  };
  const sources = {
    backend: source("backend", request.backend_repo),
    // Without its Repository, other fields of the frontend mean nothing.
    ...(request.frontend_repo ? { frontend: source("frontend", request.frontend_repo) } : {}),
  };
  const { configSet, violations } = usableConfigSet(request.config_set, caller, services);
  const hasDatabase = request.provision_database ?? configSet?.spec.database?.enabled ?? false;
  const overrides = readOverrides(request, { sources, configSet, hasDatabase, settings: services.settings });
  const chart = { repositories: { backend: sources.backend.repository }, configSet: configSet?.spec };
  const isMapped = mappingOf(chart, services.settings) !== undefined;
  const needsKeys = request.use_shared_api_keys === true && (configSet?.spec.sharedApiKeys ?? []).length === 0;
  const isTaken = isPullRequestName(request.environment_name, withPullRequests(services));
  const all = [
    ...violations,
    ...overrides.violations,
    ...sleepViolations(request.sleep),
    ...(needsKeys ? [NO_SHARED_KEYS] : []),
    ...(isTaken ? [PULL_REQUEST_NAME] : []),
  ];
  return { sources, configSet, hasDatabase, isMapped, overrides, violations: all };
}

function withPullRequests({ repositories }: IntakeServices): string[] {
  const enabled = repositories.list().filter(({ spec }) => spec.pullRequest?.enabled);
  return enabled.map(({ metadata }) => metadata.name);
}

const PULL_REQUEST_NAME: Violation = {
  field: "environment_name",
  message: "is reserved for the environment of a pull request: choose another name",
};

const NO_SHARED_KEYS: Violation = {
  field: "use_shared_api_keys",
  message: "needs a config set that has shared API keys",
};

/** Part of the spec by the request. The config set's values are fixed here: its later versions don't matter. */
async function specOf(
  request: CreateReportRequest,
  { sources, configSet, hasDatabase, overrides: { overrides, provided }, origin }: Resolved & Pick<FirstData, "origin">,
  services: IntakeServices,
): Promise<EnvironmentSpec> {
  const secrets = secretsOf(request, provided);
  const commits = await fullCommits(Object.values(sources), services);
  const source = ({ component, repository, branch }: RequestedSource) => {
    const commit = commits[component];
    return { repository: repository.metadata.name, branch, ...present({ commit }) };
  };
  const { ttlDefaultHours = TTL_DEFAULT_HOURS, database } = configSet?.spec ?? {};
  // The TTL of an unnamed default config set does not count.
  const ttlHours = request.config_set ? ttlDefaultHours : TTL_DEFAULT_HOURS;
  return {
    ttlHours: request.ttl ?? Math.min(ttlHours, services.settings.ttl.maximumHours),
    ...(configSet ? { configSet: { name: configSet.metadata.name } } : {}),
    // False is the default unless the config set says otherwise.
    ...(hasDatabase || database?.enabled ? { database: { provision: hasDatabase, ...origin } } : {}),
    backend: source(sources.backend),
    ...(sources.frontend ? { frontend: source(sources.frontend) } : {}),
    ...(secrets ? { secrets } : {}),
    ...(overrides ? { overrides } : {}),
    ...(request.sleep ? { sleep: sleepWishOf(request.sleep) } : {}),
  };
}

function secretsOf(request: CreateReportRequest, provided: Overrides["provided"]): EnvironmentSpec["secrets"] {
  const secrets: EnvironmentSpec["secrets"] = {
    ...(request.auto_generate_secrets === false ? { autoGenerate: false } : {}),
    ...(request.use_shared_api_keys ? { useSharedApiKeys: true } : {}),
    ...(provided.size > 0 ? { provided: [...provided.keys()].sort() } : {}),
  };
  return Object.keys(secrets).length > 0 ? secrets : undefined;
}
