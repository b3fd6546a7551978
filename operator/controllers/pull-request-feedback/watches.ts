import { reportedCommitKey } from "../../../crds/environment/commit-status.ts";
import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { isMadeByEvent } from "../../../crds/environment/managed-by.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import { BY_REPORTED_COMMIT, BY_REPOSITORY, type Caches } from "../../ports/caches.ts";

/** Enqueues the environments that may have news for their host; returns the end of it. */
export function enqueueOnReports({ environments, repositories }: Caches, enqueue: Enqueue): () => void {
  const enqueueOne = (environment: EphemeralEnvironment) => {
    if (isMadeByEvent(environment)) enqueue(environment.metadata.name);
  };
  return endOf([
    environments.subscribe((_name, current, previous) => {
      if (current !== undefined) enqueueOne(current);
      // Another one of a commit may have to report its status now.
      const keys = [current, previous].map((one) => one && reportedCommitKey(one));
      const [hasStatus, hadStatus] = [current, previous].map((one) => one?.status?.feedback?.status !== undefined);
      if (keys[0] === keys[1] && hasStatus === hadStatus) return;
      for (const key of keys) if (key !== undefined) environments.by(BY_REPORTED_COMMIT, key).forEach(enqueueOne);
    }),
    repositories.subscribe((_key, current, previous) => {
      if (current === undefined || current.metadata.generation === previous?.metadata.generation) return;
      environments.by(BY_REPOSITORY, current.metadata.name).forEach(enqueueOne);
    }),
  ]);
}
