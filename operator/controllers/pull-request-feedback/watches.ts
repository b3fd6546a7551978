import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../../crds/environment/managed-by.ts";
import { desiredCommitOf } from "../../host-reports/commit-status-owner.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import { BY_REPOSITORY, type Caches } from "../../ports/caches.ts";

/** Enqueues the environments that may have news for their host; returns the end of it. */
export function enqueueOnReports({ environments, repositories }: Caches, enqueue: Enqueue): () => void {
  const enqueueOne = (environment: EphemeralEnvironment) => {
    if (isMadeByEvent(environment)) enqueue(environment.metadata.name);
  };
  return endOf([
    environments.subscribe((_name, current, previous) => {
      if (current !== undefined) enqueueOne(current);
      // Another one of a commit may have to report its status now.
      for (const repository of reportersChanged(current, previous)) {
        environments.by(BY_REPOSITORY, repository).forEach(enqueueOne);
      }
    }),
    repositories.subscribe((_key, current, previous) => {
      if (current === undefined || current.metadata.generation === previous?.metadata.generation) return;
      environments.by(BY_REPOSITORY, current.metadata.name).forEach(enqueueOne);
    }),
  ]);
}

/** Repositories whose commits have other environments to report them than before. */
function reportersChanged(...states: readonly (EphemeralEnvironment | undefined)[]): readonly string[] {
  const [current, previous] = states.map(reported);
  if (current?.commit === previous?.commit && current?.repository === previous?.repository) return [];
  return [...new Set([current, previous].flatMap((one) => one?.repository ?? []))];
}

/** Commit that a living environment reports; `undefined` without one. */
function reported(environment: EphemeralEnvironment | undefined) {
  const { repository } = environment?.spec.trigger ?? {};
  if (environment === undefined || repository === undefined || !isMadeByEvent(environment)) return undefined;
  if (environment.metadata.deletionTimestamp !== undefined) return undefined;
  return { repository, commit: desiredCommitOf(environment, repository) };
}
