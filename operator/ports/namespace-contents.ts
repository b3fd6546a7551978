import type { TeardownBlocker } from "../../crds/environment/environment-status.schema.ts";
import type { Kind } from "../../crds/group.ts";
import type { Owner } from "./cluster.ts";

/** An object in an environment's namespace, whoever made it. */
export interface Content extends Pick<TeardownBlocker, "name"> {
  readonly kind: Kind;
  readonly uid: string;
  /** The version that was listed. */
  readonly resourceVersion: string;
  readonly finalizers: readonly string[];
}

/** A PersistentVolume that outlives its claim, because its reclaim policy is `Retain`. */
export interface RetainedVolume {
  readonly name: string;
  readonly uid: string;
  /** Whether it was made for its claim; one that was there before may hold data of others. */
  readonly isMadeForClaim: boolean;
}

/**
 * What is in the namespace of an environment that is being deleted: of every kind that the API server serves, and not only
 * what the platform made there. It needs the platform's rights in that namespace.
 *
 * Methods throw the kit's KubeError when the API server can't be asked.
 */
export interface NamespaceContents {
  /** All of it but Events, without its content; empty when the namespace is gone. Kinds that can't be listed now are left out. */
  list(environment: Owner): Promise<readonly Content[]>;

  /**
   * Has every pod end that has not ended this long after its deletion was asked for, whatever grace period it has itself;
   * deletes those that nobody has deleted yet.
   *
   * @param graceSeconds at least 1: a pod is never removed from the API before its node has stopped it
   * @returns how many of them are left
   */
  endPods(environment: Owner, graceSeconds: number): Promise<number>;

  /**
   * Takes these finalizers off an object of the namespace, and no others that it has by now; of an object that was made anew
   * under its name, none.
   *
   * @returns the sentence of what refuses it, such as an admission webhook; `undefined`: nothing does
   */
  release(environment: Owner, content: Content, finalizers: readonly string[]): Promise<string | undefined>;

  /** The retained volumes of the namespace's claims, by name; none where the platform has no rights in it, or it is gone. */
  retainedVolumes(environment: Owner): Promise<readonly RetainedVolume[]>;

  /** Has a volume go with its claim. One that is gone counts as done; one of the same name made since is left, with an error. */
  endWithClaim(volume: RetainedVolume): Promise<void>;
}
