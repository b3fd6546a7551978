import type { EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../crds/environment/managed-by.ts";
import { COMPONENTS } from "../../crds/names.ts";

/** Finds the environments that use a Repository. */
export type EnvironmentsOf = (repository: string) => readonly EphemeralEnvironment[];

/**
 * Environment that reports the commit status of a Repository's commit; `undefined` where none is left. All environments
 * of a commit have one status on the host: a pull request's goes before a pipeline's, an older pull request's before a
 * later one's.
 */
export function commitStatusOwner(
  repository: string,
  commit: string,
  environmentsOf: EnvironmentsOf,
): EphemeralEnvironment | undefined {
  const ofCommit = environmentsOf(repository).filter(
    (environment) =>
      environment.metadata.deletionTimestamp === undefined &&
      isMadeByEvent(environment) &&
      environment.spec.trigger?.repository === repository &&
      desiredCommitOf(environment, repository) === commit,
  );
  return ofCommit.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || (one.metadata.uid < other.metadata.uid ? -1 : 1),
  )[0];
}

/** Number of the pull request; last without one. */
function rankOf({ spec: { trigger } }: EphemeralEnvironment): number {
  return (trigger?.kind === "pull_request" ? trigger.number : undefined) ?? Number.MAX_SAFE_INTEGER;
}

/** Commit of the Repository that an environment is to run; `undefined` while unknown. */
export function desiredCommitOf({ spec, status }: EphemeralEnvironment, repository: string): string | undefined {
  const component = COMPONENTS.find((one) => spec[one]?.repository === repository);
  if (component === undefined) return undefined;
  const { commit = "" } = spec[component] ?? {};
  return commit === "" ? status?.sources?.[component]?.resolved?.commit : commit;
}
