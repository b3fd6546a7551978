/** Permissions of environments to use a Repository or a config set, and a Repository's limit. */

import type { Component } from "../names.ts";
import { admits, type Repository } from "../repository/repository.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";

/** The Repositories that there are. */
interface Findable {
  find(name: string): Repository | undefined;
}

/** The Repository that the component names; `undefined` where there is none of its type. */
export function namedRepository(
  { spec }: EphemeralEnvironment,
  component: Component,
  repositories: Findable,
): Repository | undefined {
  const source = spec[component];
  const found = source && repositories.find(source.repository);
  return found?.spec.type === component ? found : undefined;
}

/** The same, where it is shared with the environment or was granted to it. */
export function grantedRepository(
  environment: EphemeralEnvironment,
  component: Component,
  repositories: Findable,
): Repository | undefined {
  const named = namedRepository(environment, component, repositories);
  return named !== undefined && isGranted(environment, named) ? named : undefined;
}

/** True where the environment may use the Repository, now or by an earlier grant. */
export const isGranted = (environment: EphemeralEnvironment, repository: Repository): boolean =>
  wasGranted(environment) || mayHave(environment, repository);

/**
 * True when the groups of a Repository or a config set allow the environment to use it. With an owner, the REST
 * interface has checked the owner's groups; without one, the groups of the environment count, and the admission policy
 * lets its creator name only their own.
 */
export function mayHave({ spec }: EphemeralEnvironment, used: Parameters<typeof admits>[0]): boolean {
  return spec.owner !== undefined || admits(used, spec.access?.groups ?? []);
}

/** True when its Repositories were granted once; later changes of groups and limits don't matter. */
export function wasGranted({ status }: EphemeralEnvironment): boolean {
  return status?.sources?.backend !== undefined;
}

/**
 * True when the environment counts for the Repository's limit (`maxEnvironments`), until it is gone: pods may run
 * during the deletion. One that may not use this Repository does not count; one that fails because of its other
 * Repository does.
 */
export function takesPlace(environment: EphemeralEnvironment, repository: Repository): boolean {
  const { spec } = environment;
  const names = [spec.backend.repository, spec.frontend?.repository];
  if (!names.includes(repository.metadata.name)) return false;
  return isGranted(environment, repository);
}

/**
 * True when environments before this one reach the Repository's limit: granted ones, and the older ones of those that
 * wait, equally old ones by UID. The limit is only for creations; the REST interface checks it for its own
 * environments.
 *
 * @param candidates all environments that may name the Repository, with this one; called only if it has a limit
 */
export function isCrowdedOut(
  environment: EphemeralEnvironment,
  repository: Repository,
  candidates: () => readonly EphemeralEnvironment[],
): boolean {
  const { maxEnvironments } = repository.spec;
  if (maxEnvironments === undefined || hasPlace(environment)) return false;
  const before = candidates().filter((other) => takesPlace(other, repository) && comesBefore(other, environment));
  return before.length >= maxEnvironments;
}

const hasPlace = (environment: EphemeralEnvironment) => environment.spec.owner !== undefined || wasGranted(environment);

function comesBefore(other: EphemeralEnvironment, one: EphemeralEnvironment): boolean {
  if (other.metadata.uid === one.metadata.uid) return false;
  return hasPlace(other) || orderOf(other) < orderOf(one);
}

/** Timestamps of Kubernetes have one form, so their text can be compared. */
const orderOf = ({ metadata }: EphemeralEnvironment) => `${metadata.creationTimestamp} ${metadata.uid}`;

/**
 * Groups that share an environment of these Repositories: those common to all that name groups; empty (owner and
 * maintainers alone) when none names any, or none is common.
 */
export function sharedGroups(repositories: readonly Repository[]): string[] {
  const named = repositories.map(({ spec }) => spec.access?.groups ?? []).filter((groups) => groups.length > 0);
  const [first = [], ...others] = named;
  return first.filter((group) => others.every((groups) => groups.includes(group)));
}
