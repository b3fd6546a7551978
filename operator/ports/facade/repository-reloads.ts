import type { Repository } from "../../../crds/repository/repository.ts";

/** What a check of all Repositories found, relative to the reload before. */
export interface Reload {
  /** How many are in order. */
  readonly loaded: number;
  /** Names of those that are in order now, and were not there before, or said something else. */
  readonly added: readonly string[];
  readonly updated: readonly string[];
  /** Names of those that were in order once, and are registered no more. */
  readonly removed: readonly string[];
  /** What is wrong with the others; what they were in order as is kept for the next reload. */
  readonly errors: readonly { readonly name: string; readonly message: string }[];
}

/** Has Repositories checked. */
export interface RepositoryReloads {
  /**
   * Requests a check of each, and waits up to 20 s for it. Callers during a reload share the next one.
   *
   * @throws ClusterUnavailable when the Kubernetes API can't be reached, and before the first list
   */
  reload(): Promise<Reload>;

  /** Requests a check of one, and does not wait for it; one that is gone is fine. @throws ClusterUnavailable */
  request(repository: Repository): Promise<void>;
}
