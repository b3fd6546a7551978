import { randomUUID } from "node:crypto";
import { API_VERSION } from "../../../../crds/group.ts";
import type { Repository, RepositorySpec } from "../../../../crds/repository/repository.ts";
import type { Repositories } from "../../../../operator/ports/repositories.ts";

export interface MemoryRepositories extends Repositories {
  put(repository: Repository): void;
  drop(name: string): void;
}

/** Repositories registered by hand. */
export function memoryRepositories(...registered: readonly Repository[]): MemoryRepositories {
  const byName = new Map(registered.map((repository) => [repository.metadata.name, repository]));
  return {
    find: (name) => byName.get(name),
    list: () => [...byName.values()],
    put: (repository) => void byName.set(repository.metadata.name, repository),
    drop: (name) => void byName.delete(name),
  };
}

/** A Repository with usual values for absent fields. */
export function aRepository(name: string, spec: Partial<RepositorySpec> = {}): Repository {
  return {
    apiVersion: API_VERSION,
    kind: "Repository",
    metadata: {
      name,
      namespace: "ephemeral-system",
      uid: randomUUID(),
      resourceVersion: "1",
      generation: 1,
      creationTimestamp: "2026-01-01T00:00:00Z",
    },
    spec: {
      type: "backend",
      cloneUrl: `https://git.example.test/shop/${name}.git`,
      image: { repository: `registry.example.test/shop/${name}` },
      ...spec,
    },
  };
}
