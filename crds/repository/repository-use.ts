/** Which environments may have a Repository or a config set, and which of them take a Repository's places. */
import type { EphemeralEnvironment } from "../environment/ephemeral-environment.ts";
import { admits, type Repository } from "./repository.ts";

/**
 * Whether the groups of a Repository, or of a config set, let the environment have it. The REST interface has judged the
 * owner whom it names by the owner's groups. Any other environment is judged by the groups that it is shared with: the
 * admission policy lets its creator name only groups of their own.
 */
export function mayHave({ spec }: EphemeralEnvironment, used: Parameters<typeof admits>[0]): boolean {
  return spec.owner !== undefined || admits(used, spec.access?.groups ?? []);
}

/** Whether its Repositories were granted once: groups and limits that change later concern it no more. */
export function wasGranted({ status }: EphemeralEnvironment): boolean {
  return status?.sources?.backend !== undefined;
}

/**
 * Whether it takes one of the Repository's places (`maxEnvironments`): not one that is being deleted, nor one that may not
 * have this Repository. One that fails for its other Repository does take a place here, until it is deleted.
 */
export function takesPlace(environment: EphemeralEnvironment, repository: Repository): boolean {
  const { metadata, spec } = environment;
  const names = [spec.backend.repository, spec.frontend?.repository];
  if (metadata.deletionTimestamp !== undefined || !names.includes(repository.metadata.name)) return false;
  return wasGranted(environment) || mayHave(environment, repository);
}

/**
 * Whether all places of the Repository are taken by environments that come before this one: those that have theirs, and
 * of those that wait for one the older, by UID where they are equally old. Only creation is limited, and what
 * the REST interface makes is counted there.
 *
 * @param candidates all environments that may name the Repository, this one among them; asked for only where it matters
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
  return hasPlace(other) || turnOf(other) < turnOf(one);
}

/** Kubernetes writes moments in one form, to the second, so that they are in order as text. */
const turnOf = ({ metadata }: EphemeralEnvironment) => `${metadata.creationTimestamp} ${metadata.uid}`;
