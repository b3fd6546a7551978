import { repositoriesOf } from "../../../crds/environment/ephemeral-environment.ts";
import { type Repository, requestedCheck } from "../../../crds/repository/repository.ts";
import { type Enqueue, endOf } from "../../kit/controller/controller.ts";
import type { Caches } from "../../ports/caches.ts";
import { hasNewIdentity } from "./host-identity.ts";

/** Enqueues the Repositories that a change concerns; returns the end of it. */
export function enqueueOnRepositories(
  { repositories, configSets, environments, webhookDeliveries }: Caches,
  enqueue: Enqueue,
): () => void {
  const enqueueUsersOf = (name = "") => {
    for (const { metadata, spec } of repositories.list()) {
      const named = [spec.companionRepository, spec.pullRequest?.configSet];
      if (named.includes(name)) enqueue(metadata.name, "low");
    }
  };
  return endOf([
    repositories.subscribe((_key, current, previous) => {
      if (current !== undefined && isRelevant(current, previous)) enqueue(current.metadata.name);
      if (current === undefined || previous === undefined) enqueueUsersOf((current ?? previous)?.metadata.name);
    }),
    webhookDeliveries.subscribe((_key, current, previous) => {
      if (current === undefined || previous !== undefined) return;
      for (const name of current.spec.repositories ?? []) {
        const repository = repositories.list().find(({ metadata }) => metadata.name === name);
        if (repository !== undefined && hasNewIdentity(repository, current)) enqueue(name, "low");
      }
    }),
    configSets.subscribe((_key, current, previous) => enqueueUsersOf((current ?? previous)?.metadata.name)),
    environments.subscribe((_name, current, previous) => {
      // An environment uses the same Repositories all its life.
      const environment = current === undefined || previous === undefined ? (current ?? previous) : undefined;
      for (const name of environment === undefined ? [] : repositoriesOf(environment)) enqueue(name);
    }),
  ]);
}

/** Events of our own writes, of status and finalizer, are irrelevant. */
function isRelevant(current: Repository, previous: Repository | undefined): boolean {
  const requestOf = ({ metadata }: Repository) =>
    [metadata.uid, metadata.generation, metadata.deletionTimestamp].join();
  if (previous === undefined || requestOf(previous) !== requestOf(current)) return true;
  return requestedCheck(current) !== undefined && requestedCheck(current) !== requestedCheck(previous);
}
