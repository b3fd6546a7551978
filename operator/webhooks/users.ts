/** The environments that a push or a pipeline of a Repository may concern. */

import { wantedCommit } from "../../crds/environment/component-build.ts";
import { pipelineKey, triggerKey } from "../../crds/environment/environment-record.ts";
import type { EnvironmentSpec, EphemeralEnvironment } from "../../crds/environment/ephemeral-environment.ts";
import type { DecisionContext, Subject } from "./decision.ts";

export interface User {
  readonly environment: EphemeralEnvironment;
  readonly source: EnvironmentSpec["backend"];
  /** Desired commit of the component; `undefined` while its branch's head is unknown. */
  readonly wanted: string | undefined;
  /** True when it follows pushes to its branch. */
  readonly follows: boolean;
  /** True when a pipeline of the Repository made it. */
  readonly isMadeByPipeline: boolean;
}

/** Environments of the Repository, without terminating ones. */
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
