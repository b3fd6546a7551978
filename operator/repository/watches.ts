import { repositoriesOf } from "../../crds/environment/ephemeral-environment.ts";
import { askedCheck, type Repository } from "../../crds/repository/repository.ts";
import type { Priority } from "../kit/controller/work-queue.ts";
import type { Caches } from "../ports/caches.ts";

/** Turns what changed into the names of the Repositories that want a pass, and forgets the rest. */
export function enqueueOnRepositories(
  { repositories, configSets, environments }: Pick<Caches, "repositories" | "configSets" | "environments">,
  enqueue: (name: string, priority?: Priority) => void,
): () => void {
  const wakeThoseThatName = (name = "") => {
    for (const { metadata, spec } of repositories.list()) {
      const named = [spec.companionRepository, spec.pullRequest?.configSet];
      if (named.includes(name)) enqueue(metadata.name, "low");
    }
  };
  const ends = [
    repositories.subscribe((_key, current, previous) => {
      if (current !== undefined && wantsPass(current, previous)) enqueue(current.metadata.name);
      if (current === undefined || previous === undefined) wakeThoseThatName((current ?? previous)?.metadata.name);
    }),
    configSets.subscribe((_key, current, previous) => wakeThoseThatName((current ?? previous)?.metadata.name)),
    environments.subscribe((_name, current, previous) => {
      // Those that it uses are the same all its life.
      const environment = current === undefined || previous === undefined ? (current ?? previous) : undefined;
      for (const name of environment === undefined ? [] : repositoriesOf(environment)) enqueue(name);
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Our own writes, of the status and of our finalizer, tell nothing new. */
function wantsPass(current: Repository, previous: Repository | undefined): boolean {
  const said = ({ metadata }: Repository) => [metadata.uid, metadata.generation, metadata.deletionTimestamp].join();
  if (previous === undefined || said(previous) !== said(current)) return true;
  return askedCheck(current) !== undefined && askedCheck(current) !== askedCheck(previous);
}
