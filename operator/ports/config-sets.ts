import type { ConfigSet, ConfigSetSpec, ConfigSetVersion } from "../../crds/config-set.ts";

/**
 * The config sets as they are now, read from this process's cache, which never shows an older version than a write that
 * this process answered.
 *
 * Reads throw ClusterUnavailable before the first complete list. What writes throws it when the Kubernetes API can't be
 * reached, and ConfigInvalid, with the fields of the resource, when it refuses the manifest.
 */
export interface ConfigSets {
  find(name: string): ConfigSet | undefined;
  list(): ConfigSet[];

  /**
   * Makes one; the API server is the lock on the name.
   *
   * @param by the creator's name, for people
   */
  create(name: string, spec: ConfigSetSpec, by: string): Promise<ConfigSet | "taken">;

  /** Replaces the whole spec of exactly this one (its UID), whatever it says by now. What is the same makes no new version. */
  replace(configSet: ConfigSet, spec: ConfigSetSpec): Promise<ConfigSet | "gone">;

  /** Removes exactly this one (its UID); one that is gone is fine. Versions that environments use are kept. */
  remove(configSet: ConfigSet): Promise<void>;
}

/**
 * The versions that environments use, kept as they were: a change or deletion of the config set does not affect them.
 *
 * Reads come from this process's cache; what talks to the API server throws the kit's KubeError when that fails.
 */
export interface ConfigSetVersions {
  /** The version that is kept under this name (`revisionName`). */
  find(revision: string): ConfigSetVersion | undefined;

  /**
   * Keeps the version, also one that was about to be discarded: called before an environment names it. Sends no request
   * when it is kept already.
   *
   * @throws NameTaken when something else is kept under its name, BeingDeleted when it is on its way out
   */
  keep(version: ConfigSetVersion): Promise<void>;

  /**
   * Removes a version that has been unused for long; before that, stores since when it is unused, and answers when to
   * check again. A `keep` in between erases that, and the removal holds only for the version that was read: a version that
   * was taken up again a moment ago stays.
   *
   * @param isUsed asked once more right before the removal
   */
  discard(revision: string, isUsed: () => Promise<boolean>): Promise<Discard>;
}

export type Discard =
  | { readonly state: "noted"; readonly requeueAfterMs: number }
  | { readonly state: "gone" | "used" };
