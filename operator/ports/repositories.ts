import type { Repository } from "../../crds/repository/repository.ts";

/** Registered Repositories by name, from this process's cache; ClusterUnavailable before its first complete list. */
export interface RepositoryFinder {
  find(name: string): Repository | undefined;
}

/** All registered Repositories. */
export interface Repositories extends RepositoryFinder {
  list(): Repository[];
}

/** Result of a check of all Repositories, relative to the previous reload. */
export interface Reload {
  readonly loaded: number;
  /** Names of valid ones that are new, or changed. */
  readonly added: readonly string[];
  readonly updated: readonly string[];
  /** Names of once valid ones that are no longer registered. */
  readonly removed: readonly string[];
  /** Problems of the others, whose last valid state is kept for the next reload. */
  readonly errors: readonly { readonly name: string; readonly message: string }[];
}

/** Requests checks of Repositories. Throws ClusterUnavailable. */
export interface RepositoryReloads {
  /** Requests a check of each, and waits up to 20 s. Callers during a reload share the next one. */
  reload(): Promise<Reload>;
  /** Requests a check of one without waiting; fine when it is gone. */
  request(repository: Repository): Promise<void>;
}
