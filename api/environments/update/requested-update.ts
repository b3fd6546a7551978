import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { protectionLimit } from "../../../crds/environment/lifetime.ts";
import { ConfigInvalid, EnvironmentConflict, type Violation } from "../../../crds/errors.ts";
import { COMPONENTS, type Component } from "../../../crds/names.ts";
import { present } from "../../../crds/present.ts";
import type { EnvironmentUpdate, SourceUpdate } from "../../../operator/ports/api/environments.ts";
import type { Caller } from "../../auth/access.ts";
import { checkSharedKeys, commonGroups, unsharedConfigSet } from "../../auth/secret-references.ts";
import { usableConfigSet } from "../../config-sets/usable-config-set.ts";
import { HttpError } from "../../errors.ts";
import { usableRepository } from "../../repositories/usable-repository.ts";
import { sleepViolations, sleepWishOf } from "../../schemas/sleep.ts";
import type { Services } from "../../services.ts";
import { fullCommit, headOf, type RequestedSource } from "../creation/commits.ts";
import type { UpdateRequest } from "./schemas.ts";

type UpdateServices = Pick<
  Services,
  "clock" | "settings" | "repositories" | "branchHeads" | "configSets" | "secretManager" | "log"
>;

interface Requested {
  readonly environment: EphemeralEnvironment;
  readonly caller: Caller;
}

interface Part {
  readonly update: EnvironmentUpdate;
  readonly violations: readonly Violation[];
}

/**
 * Requested update, checked as a creation is.
 *
 * @throws EnvironmentConflict for an environment that its pull request moves, or in deletion, or whose protection would
 * be over already; ConfigInvalid with everything that is wrong; RepositoryNotFound (also for a forbidden Repository),
 * HostUnavailable, SecretsUnavailable; HttpError (forbidden) for shared API keys of other groups, and for a
 * maintainer's protection
 */
export async function requestedUpdate(
  request: UpdateRequest,
  requested: Requested,
  services: UpdateServices,
): Promise<EnvironmentUpdate> {
  const { config_set_version: version, protected: isProtected, suspended, sleep, ...sources } = request;
  const isMoved = version !== undefined || Object.keys(sources).length > 0;
  if (isMoved) assertMovable(requested.environment);
  const parts = await Promise.all([
    ...COMPONENTS.map((component) => movedSource(component, request, requested, services)),
    ...(version === undefined ? [] : [movedConfigSet(version, requested, services)]),
  ]);
  const violations = [...sleepViolations(sleep), ...parts.flatMap((part) => part.violations)];
  if (violations.length > 0) throw new ConfigInvalid(violations);
  const switches = {
    ...(isProtected === undefined ? {} : protection(isProtected, requested, services.clock.now())),
    ...present({ suspended }),
    ...(sleep === undefined ? {} : { sleep: { ...NEVER, ...sleepWishOf(sleep) } }),
  };
  return Object.assign(switches, ...parts.map(({ update }) => update));
}

/** A wish replaces the former one as a whole. */
const NEVER = { schedule: null, afterIdleMinutes: null, minimumRequests: null };

/**
 * Maintainers protect without end, and take that back. Others' protection ends 168 hours after the expiry; it shortens
 * none, and takes none of a maintainer's back.
 *
 * @throws HttpError (forbidden) for a maintainer's protection; EnvironmentConflict when it would be over already
 */
function protection(isRequested: boolean, { environment, caller }: Requested, now: Date): EnvironmentUpdate {
  if (caller.permissions.has("environments:all")) return { protected: isRequested, protectedUntil: null };
  const { protected: isEndless, protectedUntil = "" } = environment.spec;
  if (isEndless && !isRequested) throw new HttpError("forbidden", "It is protected without end: ask a maintainer");
  if (!isRequested) return { protectedUntil: null };
  const limit = protectionLimit(environment);
  if (isEndless || Date.parse(protectedUntil) >= limit.getTime()) return {};
  if (limit > now) return { protectedUntil: limit.toISOString() };
  throw new EnvironmentConflict(
    "A protection would end 168 hours after the expiry, which is over: extend the environment, or ask a maintainer",
  );
}

function assertMovable({ metadata, spec: { trigger } }: EphemeralEnvironment): void {
  // Before any request to a host.
  if (metadata.deletionTimestamp !== undefined) throw new EnvironmentConflict("The environment is being deleted");
  if (trigger?.kind !== "pull_request") return;
  const { number, repository } = trigger;
  throw new EnvironmentConflict(
    `The environment belongs to pull request #${number} of '${repository}', which alone moves it: push to its branch`,
  );
}

const refused = (field: string, message: string): Part => ({ update: {}, violations: [{ field, message }] });

async function movedSource(
  component: Component,
  request: UpdateRequest,
  { environment, caller }: Requested,
  services: UpdateServices,
): Promise<Part> {
  const { [`${component}_branch` as const]: branch, [`${component}_commit` as const]: commit } = request;
  if (branch === undefined && commit === undefined) return { update: {}, violations: [] };
  const field = branch === undefined ? `${component}_commit` : `${component}_branch`;
  const current = environment.spec[component];
  if (current === undefined) return refused(field, `the environment has no ${component}`);
  const repository = usableRepository(current.repository, { field, type: component, caller }, services.repositories);
  const target = { component, repository, branch: branch || current.branch, commit: commit ?? "" };
  const found = await (target.commit === "" ? headCommit(target, field, services) : fullCommit(target, services));
  if (typeof found !== "string") return { update: {}, violations: [found] };
  // A following component goes on; else the operator would keep the head that it has read.
  const isFollowing = target.commit === "" && current.follow === true;
  const source: SourceUpdate = { branch: target.branch, commit: isFollowing ? null : found };
  return { update: { [component]: source }, violations: [] };
}

async function headCommit(
  source: RequestedSource,
  field: string,
  services: UpdateServices,
): Promise<string | Violation> {
  const head = await headOf(source, services);
  return head ?? { field, message: `repository '${source.repository.metadata.name}' has no branch '${source.branch}'` };
}

async function movedConfigSet(
  version: NonNullable<UpdateRequest["config_set_version"]>,
  { environment, caller }: Requested,
  services: UpdateServices,
): Promise<Part> {
  const field = "config_set_version";
  const { configSet: named, overrides, secrets, access } = environment.spec;
  if (named === undefined) return refused(field, "the environment has no config set");
  const { configSet } = usableConfigSet(named.name, caller, services);
  if (configSet === undefined) return refused(field, `no config set '${named.name}' is registered`);
  const { generation } = configSet.metadata;
  if (version !== "current" && version !== generation) {
    return refused(field, `is not the current version of config set '${named.name}', which is ${generation}`);
  }
  const groups = commonGroups(access?.groups ?? [], caller);
  const referrer = { referrer: { environment: environment.metadata.name }, groups, caller, services };
  const components = COMPONENTS.filter((component) => environment.spec[component] !== undefined);
  const own = { components, ...(overrides && { overrides }), provided: new Set(secrets?.provided) };
  const unshared = await unsharedConfigSet(configSet, own, referrer);
  if (unshared !== undefined) return refused(field, unshared);
  if (secrets?.useSharedApiKeys) await checkSharedKeys(configSet, referrer);
  return { update: { configSet: { version: generation } }, violations: [] };
}
