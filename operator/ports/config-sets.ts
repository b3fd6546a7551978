import type { ConfigSet, ConfigSetSpec, ConfigSetVersion } from "../../crds/config-set.ts";

/** Config sets by name, from this process's cache; ClusterUnavailable before its first complete list. */
export interface ConfigSetFinder {
  find(name: string): ConfigSet | undefined;
}

/**
 * The config sets, from this process's cache with its own writes.
 *
 * Reads throw ClusterUnavailable before the first complete list. Writes throw it when the Kubernetes API is
 * unreachable, and ConfigInvalid, with the fields of the resource, when it refuses the manifest.
 */
export interface ConfigSets extends ConfigSetFinder {
  list(): ConfigSet[];
  /** Creates a config set; the API server is the lock on the name. `by`: the creator's name, for people. */
  create(name: string, spec: ConfigSetSpec, by: string): Promise<ConfigSet | "taken">;
  /**
   * Replaces the whole spec of exactly this one (its UID), without a version check. An equal spec makes no new version.
   */
  replace(configSet: ConfigSet, spec: ConfigSetSpec): Promise<ConfigSet | "gone">;
  /** Deletes exactly this one (its UID); fine when it is gone. Versions used by environments are kept. */
  remove(configSet: ConfigSet): Promise<void>;
}

/**
 * Versions used by environments, unaffected by changes or the deletion of the config set. Reads come from this process's
 * cache; calls to the API server throw the kit's KubeError.
 */
export interface ConfigSetVersions {
  find(revision: string): ConfigSetVersion | undefined;
  /**
   * Keeps the version, even one about to be discarded; call before an environment names it. Sends no request when it is
   * kept already.
   *
   * @throws NameTaken when another object has its name, BeingDeleted when it is terminating
   */
  keep(version: ConfigSetVersion): Promise<void>;
  /**
   * Removes a version unused for long; before that, stores the start of its disuse and answers the time of the next
   * check. A `keep` in between erases that, and prevents the removal.
   *
   * @param isUsed called once more right before the removal
   */
  discard(revision: string, isUsed: () => Promise<boolean>): Promise<Discard>;
}

export type Discard =
  | { readonly state: "noted"; readonly requeueAfterMs: number }
  | { readonly state: "gone" | "used" };
