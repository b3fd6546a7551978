/** The environments that a push or a pipeline of a Repository may concern. */
import { pipelineKey, triggerKey } from "../../crds/environment/environment-record.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import { wantedCommit } from "../controllers/environment/progress.ts";
import type { DecisionContext, Subject } from "./decision.ts";

/** An environment with a component of the Repository. */
export interface User {
  readonly environment: EphemeralEnvironment;
  readonly source: EnvironmentSpec["backend"];
  /** The commit that the component should run; `undefined` while the head of its branch is unknown. */
  readonly wanted: string | undefined;
  /** Whether it moves with pushes to its branch. */
  readonly follows: boolean;
  /** Whether a pipeline of the Repository made it. */
  readonly isMadeByPipeline: boolean;
}

/** The environments of the Repository, without those that are being deleted. */
export function usersOf(
  { repository, host }: Pick<Subject, "repository" | "host">,
  { environments }: Pick<DecisionContext, "environments">,
): readonly User[] {
  const { name } = repository.metadata;
  const component = repository.spec.type;
  return environments.ofRepository(name).flatMap((environment) => {
    const { metadata, spec } = environment;
    const source = spec[component];
    if (source?.repository !== name || metadata.deletionTimestamp !== undefined) return [];
    const isMadeByPipeline = triggerKey(spec.trigger) === pipelineKey(host, name);
    const follows = source.follow === true && !source.commit;
    return [{ environment, source, wanted: wantedCommit(environment, component), follows, isMadeByPipeline }];
  });
}
