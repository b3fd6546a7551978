import type { Repository } from "../../../../crds/repository/repository.ts";
import type { Repositories, RepositoryReloads } from "../../../../operator/ports/repositories.ts";

export interface MemoryRepositoryReloads extends RepositoryReloads {
  /** Sets the check's finding for this Repository; without a message, none. */
  find(name: string, message?: string): void;
  /** Names of the Repositories with a single requested check. */
  readonly requested: readonly string[];
}

/** Checks at once; fulfils `repositoryReloadsSuite`. */
export function memoryRepositoryReloads(repositories: Repositories): MemoryRepositoryReloads {
  const found = new Map<string, string>();
  const requested: string[] = [];
  const before = new Map<string, Repository>();
  const isChanged = (repository: Repository) => {
    const { uid, generation } = before.get(repository.metadata.name)?.metadata ?? repository.metadata;
    return uid !== repository.metadata.uid || generation !== repository.metadata.generation;
  };
  return {
    requested,
    async request({ metadata }) {
      requested.push(metadata.name);
    },
    async reload() {
      const all = repositories.list();
      const errors = all.flatMap(({ metadata: { name } }) => {
        const message = found.get(name);
        return message === undefined ? [] : [{ name, message }];
      });
      const well = all.filter(({ metadata }) => !found.has(metadata.name));
      const added = well.filter(({ metadata }) => !before.has(metadata.name));
      const updated = well.filter(isChanged);
      const removed = [...before.keys()].filter((name) => repositories.find(name) === undefined);
      for (const repository of well) before.set(repository.metadata.name, repository);
      for (const name of removed) before.delete(name);
      return { loaded: well.length, added: names(added), updated: names(updated), removed: removed.sort(), errors };
    },
    find: (name, message) => {
      if (message === undefined) found.delete(name);
      else found.set(name, message);
    },
  };
}

const names = (repositories: readonly Repository[]) => repositories.map(({ metadata }) => metadata.name).sort();
