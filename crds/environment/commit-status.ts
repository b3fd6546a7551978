import { COMPONENTS } from "../names.ts";
import type { EphemeralEnvironment } from "./ephemeral-environment.ts";
import { isMadeByEvent } from "./managed-by.ts";

/** Commit of the Repository that an environment is to run; `undefined` while unknown. */
export function desiredCommitOf({ spec, status }: EphemeralEnvironment, repository: string): string | undefined {
  const component = COMPONENTS.find((one) => spec[one]?.repository === repository);
  if (component === undefined) return undefined;
  const { commit = "" } = spec[component] ?? {};
  return commit === "" ? status?.sources?.[component]?.resolved?.commit : commit;
}

/** Key of a Repository's commit, whose environments have one status on the host. */
export const commitStatusKey = (repository: string, commit: string) => `${repository}@${commit}`;

/** Key of the commit whose status a living environment may report; `undefined` for others. */
export function reportedCommitKey(environment: EphemeralEnvironment): string | undefined {
  const { repository } = environment.spec.trigger ?? {};
  const isLiving = environment.metadata.deletionTimestamp === undefined;
  if (!isLiving || repository === undefined || !isMadeByEvent(environment)) return undefined;
  const commit = desiredCommitOf(environment, repository);
  return commit === undefined ? undefined : commitStatusKey(repository, commit);
}

/**
 * The one of a commit's environments that reports its status; `undefined` without any. A pull request's goes before a
 * pipeline's, that of a pull request with a lower number before those with higher ones.
 */
export function commitStatusOwner(ofCommit: readonly EphemeralEnvironment[]): EphemeralEnvironment | undefined {
  const inOrder = ofCommit.toSorted(
    (one, other) => rankOf(one) - rankOf(other) || (one.metadata.uid < other.metadata.uid ? -1 : 1),
  );
  return inOrder[0];
}

/** Number of the pull request; last without one. */
function rankOf({ spec: { trigger } }: EphemeralEnvironment): number {
  return (trigger?.kind === "pull_request" ? trigger.number : undefined) ?? Number.MAX_SAFE_INTEGER;
}
