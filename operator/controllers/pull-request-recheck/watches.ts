import type { EphemeralEnvironment } from "../../../crds/environment/ephemeral-environment.ts";
import { pullRequestEnvironmentName } from "../../../crds/environment/triggered-names.ts";
import { isPending } from "../../../crds/webhooks/webhook-delivery.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import { type Clock, elapsedMs } from "../../kit/time/clock.ts";
import type { Caches } from "../../ports/caches.ts";

/** Longest time without a leader while environments were made. */
const UNLED_MS = 60 * 60_000;

/** True for an environment of a pull request that is not being deleted. */
export function isPresent({ metadata, spec }: EphemeralEnvironment): boolean {
  return spec.trigger?.kind === "pull_request" && metadata.deletionTimestamp === undefined;
}

/** Enqueues the environments of pull requests that are new, and those about which a delivery was decided. */
export function enqueueOnPullRequests({ webhookDeliveries, environments }: Caches, enqueue: Enqueue): () => void {
  return endOf([
    environments.subscribe((name, current, previous) => {
      if (current !== undefined && previous === undefined && isPresent(current)) enqueue(name);
    }),
    webhookDeliveries.subscribe((_key, current) => {
      const number = current?.spec.event.pullRequest?.number;
      if (current === undefined || number === undefined || isPending(current)) return;
      for (const repository of current.spec.repositories ?? []) {
        const name = pullRequestEnvironmentName(repository, number);
        if (environments.get(name) !== undefined) enqueue(name);
      }
    }),
  ]);
}

/** The environments of pull requests that may have been made while no process led. */
export function newPullRequestEnvironments({ environments }: Caches, clock: Clock): string[] {
  const now = clock.now();
  const isNew = ({ metadata }: EphemeralEnvironment) => elapsedMs(new Date(metadata.creationTimestamp), now) < UNLED_MS;
  return environments
    .list()
    .filter((one) => isPresent(one) && isNew(one))
    .map(({ metadata }) => metadata.name);
}
